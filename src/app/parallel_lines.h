// Files that correspond line by line, or test sets as IWSLT and WMT publish them (data/sentence_reader.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/parallel_text.h"

namespace dragoman::internal {

// What to do with a line that is not valid UTF-8: throw an Error, or replace the invalid bytes by U+FFFD.
enum class InvalidText { refuse, repair };

class ParallelLines {
 public:
  // At least one file. Throws a UsageError if several are standard input.
  ParallelLines(const std::vector<std::string>& files, InvalidText invalid);

  // Whether there was another line of each file. They are valid until the next call. Throws an Error if the files do
  // not correspond. After the last lines, warns of those that were repaired.
  bool next();

  std::span<const std::string_view> lines() const { return lines_; }  // one of each file
  std::string_view line(size_t file) const { return lines_[file]; }
  int64_t number() const { return text_.lines(0).number(); }

 private:
  void repair(size_t file);

  ParallelText text_;
  const InvalidText invalid_;
  std::vector<std::string_view> lines_;
  std::vector<std::string> repaired_;
  std::vector<int64_t> repairs_;
};

// Throws an Error if the line that was just read is not valid UTF-8.
void check_is_text(std::string_view line, const LineReader& reader);

// After all lines were translated: throws an Error if a file that has something for each of them has more.
void check_is_at_end(LineReader& reader);

// Warns of lines that were not valid UTF-8, if there were any.
void warn_of_repairs(const LineReader& reader, int64_t repaired);

}  // namespace dragoman::internal
