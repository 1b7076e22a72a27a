// Loops: outputs in which the same tokens come again and again.
#pragma once

#include <cstdint>
#include <span>

namespace dragoman::internal {

// The length of the longest stretch of tokens that is the same few at least four times in a row; 0: there is none.
int64_t longest_loop(std::span<const int32_t> tokens);

// Whether the output loops, and not because its source does.
bool is_loop(std::span<const int32_t> output, std::span<const int32_t> source);

}  // namespace dragoman::internal
