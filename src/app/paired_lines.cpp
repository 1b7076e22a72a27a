#include "app/paired_lines.h"

#include "base/error.h"
#include "base/log.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Counts both files to their ends: one line number alone would not tell where they diverged.
[[noreturn]] void refuse_lengths(LineReader& first, LineReader& second) {
  std::string_view line;
  while (first.next(line)) {}
  while (second.next(line)) {}
  throw Error("{} has {} lines, but {} has {}: they must correspond line by line", first.path(),
              first.number(), second.path(), second.number());
}

}  // namespace

PairedLines::PairedLines(const std::string& first, const std::string& second, InvalidText invalid)
    : readers_{LineReader(first), LineReader(second)}, invalid_(invalid) {
  if (first == "-" && second == "-")
    throw UsageError("standard input cannot be both files of a pair: name a file for one of them");
}

bool PairedLines::next() {
  const bool one = readers_[0].next(lines_[0]), other = readers_[1].next(lines_[1]);
  if (one != other) refuse_lengths(readers_[0], readers_[1]);
  if (!one) warn_of_repairs();
  for (size_t side = 0; one && side < 2; ++side) {
    if (!is_text(lines_[side])) repair(side);
  }
  return one;
}

void PairedLines::repair(size_t side) {
  if (invalid_ == InvalidText::refuse) {
    throw Error("{}:{}: not valid UTF-8; iconv converts from other encodings", readers_[side].path(),
                readers_[side].number());
  }
  repaired_[side] = repaired(lines_[side]);
  lines_[side] = repaired_[side];
  ++repairs_[side];
}

void PairedLines::warn_of_repairs() const {
  for (size_t side = 0; side < 2; ++side) dragoman::internal::warn_of_repairs(readers_[side], repairs_[side]);
}

void warn_of_repairs(const LineReader& reader, int64_t repaired) {
  if (repaired == 0) return;
  log_warning("{}: {} of {} lines were not valid UTF-8; invalid bytes were replaced by U+FFFD", reader.path(),
              repaired, reader.number());
}

}  // namespace dragoman::internal
