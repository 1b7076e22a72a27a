// What of a word counts where words are compared.
#pragma once

#include <string_view>

#include "text/unicode.h"

namespace dragoman::internal {

// Without the punctuation around it, unless it is nothing else.
inline std::u32string_view without_punctuation(std::u32string_view word) {
  std::u32string_view inner = word;
  while (!inner.empty() && is_punctuation(inner.front())) inner.remove_prefix(1);
  while (!inner.empty() && is_punctuation(inner.back())) inner.remove_suffix(1);
  return inner.empty() ? word : inner;
}

}  // namespace dragoman::internal
