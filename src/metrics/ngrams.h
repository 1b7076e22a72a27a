// Counts the n-grams that texts have in common, for BLEU and chrF.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::internal {

// Clipped matches: each n-gram counts as often as it occurs in both the text and the reference that has it most often.
int64_t common_ngrams(std::u32string_view text, std::span<const std::u32string> references, size_t n);

// The number of n-grams of a text of this many symbols.
inline int64_t ngrams(size_t symbols, size_t n) {
  return symbols < n ? 0 : static_cast<int64_t>(symbols - n + 1);
}

}  // namespace dragoman::internal
