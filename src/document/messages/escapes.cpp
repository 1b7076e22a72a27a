#include "document/messages/escapes.h"

#include <unicode/utf8.h>

namespace dragoman::internal {

size_t decode_character(std::string_view bytes, const StringEscapes& escapes, std::string& text) {
  const size_t known =
      bytes.size() > 1 && bytes[0] == '\\' ? escapes.codes.find(bytes[1]) : std::string_view::npos;
  if (known != std::string_view::npos) {
    text += escapes.characters[known];
    return 2;
  }
  size_t size = 0;
  U8_FWD_1(bytes.data(), size, bytes.size());
  text += bytes.substr(0, size);
  return size;
}

std::string escape_characters(std::string_view text, const StringEscapes& escapes) {
  std::string escaped;
  for (const char c : text) {
    const size_t known = escapes.characters.find(c);
    if (known == std::string_view::npos) {
      escaped += c;
    } else {
      escaped += {'\\', escapes.codes[known]};
    }
  }
  return escaped;
}

}  // namespace dragoman::internal
