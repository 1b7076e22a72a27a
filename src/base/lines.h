// LineReader: the lines of a text file, one after the other, in memory that does not grow with the file.
//
// Plain, gzip and Zstandard files are told apart by their first bytes; several members or frames in one file are
// read as one text. The path "-" is standard input, of which a line is available as soon as it is whole.
//
//   A line ends with LF or CRLF, neither of which belongs to it; the last one may lack it. A CR elsewhere, U+2028,
//   U+0085 and every other character are part of the line. An empty line is a line.
//   A byte order mark (U+FEFF) at the very start of the file is dropped.
//   NUL bytes and invalid UTF-8 are passed on as they are: see is_text.
//   A line may be as long as max_line_length; reading it takes that much memory.
//
// Throws an Error, with the file and the line where there is one, if the file cannot be opened or read, is a folder, is
// a truncated or damaged compressed file, or has a longer line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace dragoman::internal {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

class LineReader {
 public:
  static constexpr size_t max_line_length = size_t{1} << 28;

  explicit LineReader(const std::string& path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  // Whether there was another line. It is valid until the next call of either.
  bool next(std::string_view& line);

  // Whether next() would return at once, with a whole line or at the end. Reads what there is of an unfinished line
  // without waiting for the rest.
  bool ready();
  bool at_end() const;  // as far as is known; certain after ready() returned true

  int64_t number() const { return number_; }  // of the line that next() gave last; the first is 1
  const std::string& path() const { return path_; }
  uint64_t bytes_read() const;  // of the file on disk: for showing progress

 private:
  struct Stream;

  bool find_line_end();
  bool fill();

  std::string path_;
  std::unique_ptr<Stream> stream_;
  std::string buffer_;
  size_t begin_ = 0;    // of what next() has not returned yet
  size_t scanned_ = 0;  // before here there is no line end
  int64_t number_ = 0;
};

// Whether these bytes are text: valid UTF-8 (no surrogates, nothing overlong, nothing above U+10FFFF) without NUL.
bool is_text(std::string_view bytes);

// The file's name, without an ending that says how it is compressed: "train.en" for "data/train.en.zst".
std::filesystem::path uncompressed_name(const std::string& path);

}  // namespace dragoman::internal
