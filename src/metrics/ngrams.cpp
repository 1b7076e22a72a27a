#include "metrics/ngrams.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace dragoman::internal {
namespace {

std::vector<std::u32string_view> sorted_ngrams(std::span<const char32_t> text, size_t n) {
  std::vector<std::u32string_view> all;
  for (size_t i = 0; i + n <= text.size(); ++i) all.emplace_back(text.data() + i, n);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

int64_t common_ngrams(std::span<const char32_t> a, std::span<const char32_t> b, size_t n) {
  const auto left = sorted_ngrams(a, n), right = sorted_ngrams(b, n);
  int64_t common = 0;
  for (auto i = left.begin(), j = right.begin(); i != left.end() && j != right.end();) {
    const auto order = *i <=> *j;
    common += order == 0;
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return common;
}

}  // namespace dragoman::internal
