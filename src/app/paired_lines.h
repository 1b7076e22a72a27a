// Two files of which line n of one belongs to line n of the other.
#pragma once

#include <string>
#include <string_view>

#include "base/lines.h"

namespace dragoman {

// What becomes of a line that is no text: an Error, or U+FFFD in place of what is none of it.
enum class InvalidText { refuse, repair };

class PairedLines {
 public:
  // A UsageError where both are standard input.
  PairedLines(const std::string& first, const std::string& second, InvalidText invalid);

  // Whether there was another pair. It is valid until the next call. An Error where one file is longer than the
  // other. After the last pair a warning says how many lines were repaired.
  bool next();

  std::string_view first() const { return lines_[0]; }
  std::string_view second() const { return lines_[1]; }
  int64_t number() const { return readers_[0].number(); }

 private:
  void repair(size_t side);
  void warn_of_repairs() const;

  LineReader readers_[2];
  const InvalidText invalid_;
  std::string_view lines_[2];
  std::string repaired_[2];
  int64_t repairs_[2] = {0, 0};
};

// Where some of the lines that were read are no UTF-8.
void warn_of_repairs(const LineReader& reader, int64_t repaired);

}  // namespace dragoman
