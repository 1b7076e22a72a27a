#include "metrics/ngrams.h"

#include <algorithm>
#include <vector>

namespace dragoman::internal {
namespace {

struct CountedNgram {
  std::u32string_view ngram;
  int64_t count;
};

// In their order.
std::vector<CountedNgram> counted_ngrams(std::u32string_view text, size_t n) {
  std::vector<std::u32string_view> all;
  for (size_t i = 0; i + n <= text.size(); ++i) all.push_back(text.substr(i, n));
  std::sort(all.begin(), all.end());
  std::vector<CountedNgram> counted;
  for (const std::u32string_view ngram : all) {
    if (counted.empty() || counted.back().ngram != ngram) counted.push_back({ngram, 0});
    ++counted.back().count;
  }
  return counted;
}

}  // namespace

int64_t common_ngrams(std::u32string_view text, std::span<const std::u32string> references, size_t n) {
  const std::vector<CountedNgram> ours = counted_ngrams(text, n);
  std::vector<int64_t> matches(ours.size());
  for (const std::u32string& reference : references) {
    size_t i = 0;
    for (const auto& [ngram, count] : counted_ngrams(reference, n)) {
      while (i < ours.size() && ours[i].ngram < ngram) ++i;
      if (i == ours.size()) break;
      if (ours[i].ngram == ngram) matches[i] = std::max(matches[i], std::min(ours[i].count, count));
    }
  }
  int64_t common = 0;
  for (const int64_t count : matches) common += count;
  return common;
}

}  // namespace dragoman::internal
