#include "app/parallel_lines.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "text/unicode.h"

namespace dragoman::internal {

ParallelLines::ParallelLines(const std::vector<std::string>& files, InvalidText invalid)
    : text_(files, TextFormat::automatic),
      invalid_(invalid),
      lines_(files.size()),
      repaired_(files.size()),
      repairs_(files.size()) {
  if (std::ranges::count(files, "-") > 1)
    throw UsageError("standard input cannot be several files at once: name a file for all but one of them");
}

bool ParallelLines::next() {
  const bool more = text_.next(lines_);
  for (size_t file = 0; file < lines_.size(); ++file) {
    if (!more) warn_of_repairs(text_.lines(file), repairs_[file]);
    if (more && !is_text(lines_[file])) repair(file);
  }
  return more;
}

void ParallelLines::repair(size_t file) {
  if (invalid_ == InvalidText::refuse) check_is_text(lines_[file], text_.lines(file));
  repaired_[file] = repaired(lines_[file]);
  lines_[file] = repaired_[file];
  ++repairs_[file];
}

void check_is_text(std::string_view line, const LineReader& reader) {
  if (!is_text(line))
    throw Error("{}:{}: not valid UTF-8; iconv converts from other encodings", reader.path(),
                reader.number());
}

void check_is_at_end(LineReader& reader) {
  if (std::string_view rest; reader.next(rest))
    throw Error("{} has more lines than the {} that were translated: it must have one per line",
                reader.path(), reader.number() - 1);
}

void warn_of_repairs(const LineReader& reader, int64_t repaired) {
  if (repaired == 0) return;
  log_warning("{}: {} of {} lines were not valid UTF-8; invalid bytes were replaced by U+FFFD", reader.path(),
              repaired, reader.number());
}

}  // namespace dragoman::internal
