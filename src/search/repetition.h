// Loops: what a model falls into when it says the same again and again.
#pragma once

#include <cstdint>
#include <span>

namespace dragoman {

// Tokens of the longest stretch in which the same few tokens come at least four times in a row; 0: none.
int64_t longest_loop(std::span<const int32_t> tokens);

// Whether the output loops, and not because its source does.
bool is_loop(std::span<const int32_t> output, std::span<const int32_t> source);

}  // namespace dragoman
