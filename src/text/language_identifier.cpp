#include "text/language_identifier.h"

#include <algorithm>

#include <unicode/unistr.h>

#include "base/utf8.h"

namespace dragoman::internal {
namespace {

constexpr size_t longest_line_to_identify = 4096;  // bytes that are looked at

}  // namespace

std::string line_to_identify(std::string_view text) {
  if (text.size() > longest_line_to_identify) {
    size_t end = longest_line_to_identify;
    while (end > longest_line_to_identify - 3 && is_continuation(text[end])) --end;
    text = text.substr(0, end);
  }
  std::string line;
  icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())}).toUTF8String(line);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

}  // namespace dragoman::internal
