// LineReader: the lines of a text file, one after the other, in memory that does not grow with the file.
//
// Plain, gzip and Zstandard files are told apart by their first bytes; several members or frames in one file are
// read as one text. The path "-" is standard input, of which a line is given out as soon as it is whole.
//
//   A line ends with LF or CRLF, neither of which belongs to it; the last one may lack it. A CR elsewhere, U+2028,
//   U+0085 and every other character stand inside the line. An empty line is a line.
//   A byte order mark (U+FEFF) at the very start of the file is dropped.
//   NUL bytes and invalid UTF-8 are passed on as they are: is_text tells.
//   A line may be as long as max_line_length, and whoever reads it needs that memory.
//
// What cannot be opened or read, a folder, a compressed file that is cut off or damaged, and a longer line: an Error
// with the file and, once reading, the line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman {

class LineReader {
 public:
  static constexpr size_t max_line_length = size_t{1} << 28;

  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  // Whether there was another line. It is valid until the next call of either.
  bool next(std::string_view& line);

  // Whether next() would return at once: a whole line is there, or the end. What is there of a line that somebody has
  // only begun is taken in, and not waited for.
  bool ready();
  bool at_end() const;  // as far as is known; where ready() said yes, for certain

  int64_t number() const { return number_; }  // of the line that next() gave last; the first is 1
  const std::string& path() const { return path_; }
  uint64_t bytes_read() const;  // of the file as it lies on the disk: for showing progress

 private:
  struct Stream;

  bool find_line_end();
  bool fill();

  std::string path_;
  std::unique_ptr<Stream> stream_;
  std::string buffer_;
  size_t begin_ = 0;    // of what has not been given out yet
  size_t scanned_ = 0;  // before here there is no line end
  int64_t number_ = 0;
};

// Whether these bytes are text: valid UTF-8 (no surrogates, nothing overlong, nothing above U+10FFFF) without NUL.
bool is_text(std::string_view bytes);

}  // namespace dragoman
