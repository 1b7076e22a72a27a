#include "text/columns.h"

#include <algorithm>

#include <unicode/uchar.h>
#include <unicode/utf8.h>

namespace dragoman::internal {
namespace {

int64_t columns_of_character(UChar32 c) {
  const int8_t type = u_charType(c);
  if (type == U_NON_SPACING_MARK || type == U_ENCLOSING_MARK || type == U_FORMAT_CHAR) return 0;
  const int32_t width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_FULLWIDTH || width == U_EA_WIDE ? 2 : 1;
}

// The bytes that fit.
size_t bytes_within(std::string_view utf8, int64_t columns) {
  const auto size = static_cast<int32_t>(utf8.size());
  for (int32_t at = 0; at < size;) {
    const int32_t begin = at;
    UChar32 c;
    U8_NEXT(utf8.data(), at, size, c);
    columns -= columns_of_character(c);
    if (columns < 0) return static_cast<size_t>(begin);
  }
  return utf8.size();
}

}  // namespace

int64_t columns_of(std::string_view utf8) {
  int64_t columns = 0;
  for (int32_t at = 0; at < static_cast<int32_t>(utf8.size());) {
    UChar32 c;
    U8_NEXT(utf8.data(), at, static_cast<int32_t>(utf8.size()), c);
    columns += columns_of_character(c);
  }
  return columns;
}

std::string cut_to_columns(const std::string& utf8, int64_t columns) {
  if (columns_of(utf8) <= columns) return utf8;
  return utf8.substr(0, bytes_within(utf8, columns - 1)) + "…";
}

std::string padded_to_columns(const std::string& utf8, int64_t columns) {
  return utf8 + std::string(static_cast<size_t>(std::max<int64_t>(columns - columns_of(utf8), 0)), ' ');
}

}  // namespace dragoman::internal
