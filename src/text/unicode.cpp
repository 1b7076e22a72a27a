#include "text/unicode.h"

#include <algorithm>

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::internal {
namespace {

bool is_in_category(char32_t c, uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & mask) != 0;
}

std::u32string code_points(const icu::UnicodeString& text) {
  std::u32string points(static_cast<size_t>(text.countChar32()), U'\0');
  UErrorCode status = U_ZERO_ERROR;
  text.toUTF32(reinterpret_cast<UChar32*>(points.data()), static_cast<int32_t>(points.size()), status);
  CHECK(U_SUCCESS(status) || status == U_STRING_NOT_TERMINATED_WARNING, "{}", u_errorName(status));
  return points;
}

}  // namespace

std::string repaired(std::string_view bytes) {
  std::string text;
  for (size_t begin = 0; begin < bytes.size();) {
    int32_t length = 0;
    const auto left = static_cast<int32_t>(std::min<size_t>(bytes.size() - begin, U8_MAX_LENGTH));
    UChar32 c;
    U8_NEXT(bytes.data() + begin, length, left, c);
    if (c <= 0) {
      text += "\uFFFD";
    } else {
      text += bytes.substr(begin, static_cast<size_t>(length));
    }
    begin += static_cast<size_t>(length);
  }
  return text;
}

std::u32string code_points(std::string_view utf8) {
  CHECK(utf8.size() < size_t{1} << 30, "a text of {} bytes", utf8.size());
  return code_points(icu::UnicodeString::fromUTF8({utf8.data(), static_cast<int32_t>(utf8.size())}));
}

size_t code_point_count(std::string_view utf8) {
  return static_cast<size_t>(std::ranges::count_if(utf8, [](char c) { return !is_continuation(c); }));
}

std::vector<size_t> code_point_offsets(std::string_view utf8) {
  std::vector<size_t> offsets;
  for (size_t i = 0; i < utf8.size(); ++i) {
    if (!is_continuation(utf8[i])) offsets.push_back(i);
  }
  offsets.push_back(utf8.size());
  return offsets;
}

std::string to_utf8(char32_t c) {
  char bytes[U8_MAX_LENGTH];
  int32_t size = 0;
  UBool failed = false;
  U8_APPEND(bytes, size, U8_MAX_LENGTH, static_cast<UChar32>(c), failed);
  return failed ? std::string() : std::string(bytes, static_cast<size_t>(size));
}

std::string to_utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t c : text) utf8 += to_utf8(c);
  return utf8;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool has_character(std::string_view utf8, IsOfKind is) {
  for (size_t next = 0; next < utf8.size();) {
    UChar32 c;
    U8_NEXT(utf8.data(), next, utf8.size(), c);
    if (c >= 0 && is(static_cast<char32_t>(c))) return true;
  }
  return false;
}

size_t leading_bytes(std::string_view utf8, IsOfKind is) {
  size_t size = 0;
  for (size_t next = 0; size < utf8.size(); size = next) {
    UChar32 c;
    U8_NEXT(utf8.data(), next, utf8.size(), c);
    if (c < 0 || !is(static_cast<char32_t>(c))) break;
  }
  return size;
}

size_t trailing_bytes(std::string_view utf8, IsOfKind is) {
  const auto size = static_cast<int32_t>(utf8.size());
  int32_t begin = size;
  for (int32_t next = size; begin > 0; begin = next) {
    UChar32 c;
    U8_PREV(utf8.data(), 0, next, c);
    if (c < 0 || !is(static_cast<char32_t>(c))) break;
  }
  return static_cast<size_t>(size - begin);
}

std::u32string lower_case(const std::u32string& text) {
  auto units = icu::UnicodeString::fromUTF32(reinterpret_cast<const UChar32*>(text.data()),
                                             static_cast<int32_t>(text.size()));
  return code_points(units.toLower(icu::Locale::getRoot()));
}

bool is_punctuation(char32_t c) { return is_in_category(c, U_GC_P_MASK); }
bool is_symbol(char32_t c) { return is_in_category(c, U_GC_S_MASK); }
bool is_number(char32_t c) { return is_in_category(c, U_GC_N_MASK); }

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_space(text[i])) continue;
    if (i > begin) words.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

std::string single_spaced(std::string_view utf8) { return to_utf8(single_spaced(code_points(utf8))); }

std::u32string single_spaced(std::u32string_view text) {
  std::u32string words;
  for (const std::u32string_view word : split_words(text)) {
    if (!words.empty()) words += U' ';
    words += word;
  }
  return words;
}

size_t word_count(std::string_view utf8) { return split_words(code_points(utf8)).size(); }

}  // namespace dragoman::internal
