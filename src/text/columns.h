// The width of text on a terminal, in columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::internal {

// A character has one column, a wide East Asian one two, and what is set upon another none.
int64_t columns_of(std::string_view utf8);

// The text if it fits, else as much of it as does with "…" behind it.
std::string cut_to_columns(const std::string& utf8, int64_t columns);

// With spaces behind it, if it is narrower.
std::string padded_to_columns(const std::string& utf8, int64_t columns);

}  // namespace dragoman::internal
