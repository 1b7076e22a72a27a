// Counts the n-grams that two texts have in common, for BLEU and chrF.
#pragma once

#include <cstdint>
#include <span>

namespace dragoman::internal {

// Clipped matches: each n-gram counts as often as it occurs in both texts.
int64_t common_ngrams(std::span<const char32_t> a, std::span<const char32_t> b, size_t n);

// The number of n-grams of a text of this many symbols.
inline int64_t ngrams(size_t symbols, size_t n) {
  return symbols < n ? 0 : static_cast<int64_t>(symbols - n + 1);
}

}  // namespace dragoman::internal
