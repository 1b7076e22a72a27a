// Two files that correspond line by line, or test sets as IWSLT and WMT publish them (data/sentence_reader.h).
#pragma once

#include <string>
#include <string_view>

#include "data/parallel_text.h"

namespace dragoman::internal {

// What to do with a line that is not valid UTF-8: throw an Error, or replace the invalid bytes by U+FFFD.
enum class InvalidText { refuse, repair };

class PairedLines {
 public:
  // Throws a UsageError if both are standard input.
  PairedLines(const std::string& first, const std::string& second, InvalidText invalid);

  // Whether there was another pair, which is valid until the next call. Throws an Error if the files do not
  // correspond. After the last pair, warns of lines that were repaired.
  bool next();

  std::string_view first() const { return lines_[0]; }
  std::string_view second() const { return lines_[1]; }
  int64_t number() const { return text_.first_lines().number(); }

 private:
  const LineReader& reader(size_t side) const;
  void repair(size_t side);
  void warn_of_repairs() const;

  ParallelText text_;
  const InvalidText invalid_;
  std::string_view lines_[2];
  std::string repaired_[2];
  int64_t repairs_[2] = {0, 0};
};

// Warns of lines that were not valid UTF-8, if there were any.
void warn_of_repairs(const LineReader& reader, int64_t repaired);

}  // namespace dragoman::internal
