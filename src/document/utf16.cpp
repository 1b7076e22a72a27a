#include "document/utf16.h"

#include <algorithm>

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "base/error.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view little_endian_mark = "\xFF\xFE", big_endian_mark = "\xFE\xFF";

std::u16string code_units(std::string_view bytes, bool big_endian) {
  std::u16string units;
  units.reserve(bytes.size() / 2);
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<unsigned char>(bytes[i]),
               second = static_cast<unsigned char>(bytes[i + 1]);
    units += static_cast<char16_t>(big_endian ? first << 8 | second : second << 8 | first);
  }
  return units;
}

std::string utf8_of(const std::u16string& units, const DocumentSettings& settings) {
  std::string utf8;
  utf8.reserve(units.size());
  for (size_t i = 0; i < units.size();) {
    UChar32 c;
    U16_NEXT(units.data(), i, units.size(), c);
    if (U_IS_SURROGATE(c))
      throw Error("{}: line {} is not valid UTF-16: convert the file first", settings.name,
                  1 + std::ranges::count(utf8, '\n'));
    utf8 += to_utf8(static_cast<char32_t>(c));
  }
  return utf8;
}

std::string to_utf16(std::string_view utf8, bool big_endian) {
  std::string bytes;
  bytes.reserve(2 * utf8.size());
  const auto add = [&](UChar32 unit) {
    const auto high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    bytes += big_endian ? high : low;
    bytes += big_endian ? low : high;
  };
  for (size_t i = 0; i < utf8.size();) {
    UChar32 c;
    U8_NEXT_OR_FFFD(utf8.data(), i, utf8.size(), c);
    if (U_IS_BMP(c)) {
      add(c);
    } else {
      add(U16_LEAD(c));
      add(U16_TRAIL(c));
    }
  }
  return bytes;
}

}  // namespace

Document read_unicode(std::string_view bytes, const DocumentSettings& settings,
                      Document (*read)(std::string_view utf8, const DocumentSettings& settings)) {
  const bool big_endian = bytes.starts_with(big_endian_mark);
  if (!big_endian && !bytes.starts_with(little_endian_mark)) {
    check_utf8(bytes, settings);
    return read(bytes, settings);
  }
  if (bytes.size() % 2 != 0)
    throw Error("{}: UTF-16 with an odd number of bytes: the file is truncated", settings.name);
  const std::string utf8 = utf8_of(code_units(bytes, big_endian), settings);
  check_utf8(utf8, settings);
  return with_change(read(utf8, settings),
                     [big_endian](const std::string& written) { return to_utf16(written, big_endian); });
}

}  // namespace dragoman::internal
