#include "data/entities.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Of the digits after "&#"; empty: they are not a character's number.
std::string character_of(std::string_view digits) {
  const bool is_hex = digits.starts_with('x') || digits.starts_with('X');
  if (is_hex) digits.remove_prefix(1);
  uint32_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end || number == 0) return {};
  return number < ' ' ? " " : to_utf8(number);
}

// Of an entity's name, without & and ;.
std::string replacement_of(std::string_view name) {
  if (name.starts_with('#')) return character_of(name.substr(1));
  for (const auto& [entity, character] : {std::pair{"amp", "&"}, std::pair{"lt", "<"}, std::pair{"gt", ">"},
                                          std::pair{"quot", "\""}, std::pair{"apos", "'"}}) {
    if (name == entity) return character;
  }
  return {};
}

}  // namespace

std::string decoded_entities(std::string_view text) {
  constexpr size_t longest = 10;  // a name's length: #x10FFFF, with zeros before it
  std::string decoded;
  for (size_t at = text.find('&'); at != text.npos; at = text.find('&')) {
    decoded += text.substr(0, at);
    text.remove_prefix(at);
    const size_t end = text.substr(0, longest + 2).find(';');
    const std::string replacement = end == text.npos ? "" : replacement_of(text.substr(1, end - 1));
    decoded += replacement.empty() ? "&" : replacement;
    text.remove_prefix(replacement.empty() ? 1 : end + 1);
  }
  return decoded.append(text);
}

}  // namespace dragoman::internal
