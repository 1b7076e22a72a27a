#include <algorithm>

#include "document/readers.h"
#include "document/utf16.h"

namespace dragoman::internal {
namespace {

Document plain_text(std::string_view bytes, const DocumentSettings&) {
  FlatDocument document;
  if (bytes.starts_with(byte_order_mark)) document.keep(byte_order_mark);
  bytes.remove_prefix(bytes.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find_first_of("\n\r"), bytes.size());
    document.add_text(bytes.substr(0, end));
    const size_t next = std::min(bytes.find_first_not_of("\n\r", end), bytes.size());
    document.keep(bytes.substr(end, next - end));
    bytes.remove_prefix(next);
  }
  return std::move(document).finish();
}

}  // namespace

Document read_plain_text(std::string_view bytes, const DocumentSettings& settings) {
  return read_unicode(bytes, settings, plain_text);
}

}  // namespace dragoman::internal
