// SentenceReader: the sentences of a file, without the markup around them.
//
//   text    each line is a sentence
//   iwslt   IWSLT's training files: the same, but lines of tags such as <url>...</url> are not sentences
//   sgm     IWSLT's and WMT's test sets: <seg id="1"> a sentence </seg>; everything else is ignored
//
// Files of the last two are often not well-formed XML, so they are read line by line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/lines.h"
#include "data/corpus_config.h"

namespace dragoman::internal {

// The format itself; the automatic one is decided by the file's name, whatever its compression.
TextFormat format_of_file(const std::string& path, TextFormat format);

struct FileSentence {
  std::string_view text;
  std::string_view id;  // of its segment, as the file has it; may be empty
  bool is_tag = false;  // a line of an iwslt file that is not a sentence
};

class SentenceReader {
 public:
  SentenceReader(const std::string& path, TextFormat format);

  // Whether there was another sentence, or line of tags. It is valid until the next call.
  bool next(FileSentence& sentence);

  TextFormat format() const { return format_; }
  const LineReader& lines() const { return lines_; }
  int64_t count() const { return count_; }  // of the sentences and lines of tags so far
  std::string place() const;                // of the last one: "file:12"

 private:
  bool next_line(FileSentence& sentence);
  bool next_segment(FileSentence& sentence);
  void read_segment(FileSentence& sentence);

  LineReader lines_;
  TextFormat format_;
  int64_t count_ = 0;
  std::string_view rest_;  // of a line with segments
  std::string decoded_;
};

// The text without entities of XML and SGML: amp, lt, gt, quot, apos and numbers ("&#8217;", "&#x2019;") become their
// characters, a control character a space. Others stay as they are, as does an ampersand by itself.
std::string decoded_entities(std::string_view text);

}  // namespace dragoman::internal
