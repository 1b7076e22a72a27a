// Names and texts from files and users, short enough for a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dragoman::internal {

// At most `max_bytes` of it, and "..." for the rest.
std::string shortened(std::string_view text, size_t max_bytes = 100);

// "1 thread", "2 threads"
std::string counted(int64_t number, std::string_view noun);

// At most 100 bytes as one printable line, in quotes.
std::string in_quotes(std::string_view text);

}  // namespace dragoman::internal
