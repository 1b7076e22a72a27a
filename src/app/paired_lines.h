// Two files of which line n of one belongs to line n of the other.
#pragma once

#include <string>
#include <string_view>

#include "text/lines.h"

namespace dragoman {

class PairedLines {
 public:
  // A UsageError where both are standard input.
  PairedLines(const std::string& first, const std::string& second);

  // Whether there was another pair. It is valid until the next call. An Error where one file is longer than the
  // other, or where a line is no text.
  bool next();

  std::string_view first() const { return lines_[0]; }
  std::string_view second() const { return lines_[1]; }
  int64_t number() const { return readers_[0].number(); }

 private:
  LineReader readers_[2];
  std::string_view lines_[2];
};

}  // namespace dragoman
