#include "app/paired_lines.h"

#include "base/error.h"

namespace dragoman {
namespace {

// Lengths are told of both files to their ends: an error about one line alone does not say where they went apart.
[[noreturn]] void refuse_lengths(LineReader& first, LineReader& second) {
  std::string_view line;
  while (first.next(line)) {}
  while (second.next(line)) {}
  throw Error("{} has {} lines and {} has {}: they must be translations of the same sentences, line by line",
              first.path(), first.number(), second.path(), second.number());
}

}  // namespace

PairedLines::PairedLines(const std::string& first, const std::string& second)
    : readers_{LineReader(first), LineReader(second)} {
  if (first == "-" && second == "-")
    throw UsageError("standard input cannot be both files of a pair: name a file instead of one -");
}

bool PairedLines::next() {
  const bool one = readers_[0].next(lines_[0]), other = readers_[1].next(lines_[1]);
  if (one != other) refuse_lengths(readers_[0], readers_[1]);
  for (size_t i = 0; one && i < 2; ++i) {
    if (is_text(lines_[i])) continue;
    throw Error("{}:{}: this is no UTF-8 text; iconv converts from other encodings", readers_[i].path(),
                readers_[i].number());
  }
  return one;
}

}  // namespace dragoman
