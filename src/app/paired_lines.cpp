#include "app/paired_lines.h"

#include "base/error.h"
#include "base/log.h"
#include "text/unicode.h"

namespace dragoman::internal {

PairedLines::PairedLines(const std::string& first, const std::string& second, InvalidText invalid)
    : text_(first, second, TextFormat::automatic), invalid_(invalid) {
  if (first == "-" && second == "-")
    throw UsageError("standard input cannot be both files of a pair: name a file for one of them");
}

bool PairedLines::next() {
  const bool more = text_.next(lines_[0], lines_[1]);
  if (!more) warn_of_repairs();
  for (size_t side = 0; more && side < 2; ++side) {
    if (!is_text(lines_[side])) repair(side);
  }
  return more;
}

const LineReader& PairedLines::reader(size_t side) const {
  return side == 0 ? text_.first_lines() : text_.second_lines();
}

void PairedLines::repair(size_t side) {
  if (invalid_ == InvalidText::refuse) {
    throw Error("{}:{}: not valid UTF-8; iconv converts from other encodings", reader(side).path(),
                reader(side).number());
  }
  repaired_[side] = repaired(lines_[side]);
  lines_[side] = repaired_[side];
  ++repairs_[side];
}

void PairedLines::warn_of_repairs() const {
  for (size_t side = 0; side < 2; ++side) dragoman::internal::warn_of_repairs(reader(side), repairs_[side]);
}

void warn_of_repairs(const LineReader& reader, int64_t repaired) {
  if (repaired == 0) return;
  log_warning("{}: {} of {} lines were not valid UTF-8; invalid bytes were replaced by U+FFFD", reader.path(),
              repaired, reader.number());
}

}  // namespace dragoman::internal
