// How many sequences of n symbols two texts have in common: what BLEU and chrF count.
#pragma once

#include <cstdint>
#include <span>

namespace dragoman {

// Of each n-gram, as many count as matches as both texts have.
int64_t common_ngrams(std::span<const char32_t> a, std::span<const char32_t> b, size_t n);

// How many n-grams a text of this many symbols has.
inline int64_t ngrams(size_t symbols, size_t n) {
  return symbols < n ? 0 : static_cast<int64_t>(symbols - n + 1);
}

}  // namespace dragoman
