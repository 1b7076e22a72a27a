#include <algorithm>

#include "document/readers.h"
#include "document/utf16.h"

namespace dragoman::internal {
namespace {

Document paragraphs_of_lines(std::string_view file) {
  FlatDocument document;
  while (!file.empty()) {
    const size_t end = std::min(file.find_first_of("\n\r"), file.size());
    document.add_text(file.substr(0, end));
    const size_t next = std::min(file.find_first_not_of("\n\r", end), file.size());
    document.keep(file.substr(end, next - end));
    file.remove_prefix(next);
  }
  return std::move(document).finish();
}

Document plain_text(std::string_view bytes, const DocumentSettings&) {
  return read_after_mark(bytes, paragraphs_of_lines);
}

}  // namespace

Document read_plain_text(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, plain_text);
}

}  // namespace dragoman::internal
