// Where Unicode's rules break a text (UAX 14 and 29).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace dragoman::internal {

enum class BreakKind { word, line, sentence };

// The ends of the parts, in bytes.
std::vector<size_t> breaks_in(std::string_view utf8, BreakKind kind);

}  // namespace dragoman::internal
