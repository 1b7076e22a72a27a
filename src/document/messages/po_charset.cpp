#include "document/messages/po_charset.h"

#include <algorithm>

#include "base/error.h"
#include "document/encodings.h"
#include "document/messages/po_plurals.h"

namespace dragoman::internal {

bool is_no_charset(std::string_view name) {
  return name.empty() || name == "CHARSET" || name == "ASCII" || name == "US-ASCII";
}

TextSpan other_charset(std::string_view file) {
  const std::string_view header = file.substr(std::min(file.find("msgid \"\""), file.size()));
  const std::string_view name =
      value_in_header(header.substr(0, header.find("\nmsgid ")), "charset=", " ;\\\"\n");
  if (is_no_charset(name) || is_same_encoding(name, "UTF-8")) return {};
  const auto begin = static_cast<size_t>(name.data() - file.data());
  return {begin, begin + name.size()};
}

std::string po_in_utf8(std::string_view bytes, const DocumentSettings& settings) {
  const std::string name(other_charset(bytes).of(bytes));
  if (is_text(bytes) &&
      std::ranges::any_of(bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    throw Error("{}: its header specifies charset={}, but it is in UTF-8: correct the header", settings.name,
                name);
  std::string utf8 = converted_to_utf8(bytes, name, settings);
  const TextSpan place = other_charset(utf8);
  utf8.replace(place.begin, place.end - place.begin, "UTF-8");
  return utf8;
}

}  // namespace dragoman::internal
