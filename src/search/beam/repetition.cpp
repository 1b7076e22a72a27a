#include "search/beam/repetition.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

constexpr int64_t min_rounds = 4;
constexpr int64_t min_loop = 12;

}  // namespace

int64_t longest_loop(std::span<const int32_t> tokens) {
  const auto size = static_cast<int64_t>(tokens.size());
  int64_t longest = 0;
  for (int64_t period = 1; period * min_rounds <= size; ++period) {
    int64_t run = period;  // tokens up to here that go round with this period
    for (int64_t i = period; i < size; ++i) {
      const bool same = tokens[static_cast<size_t>(i)] == tokens[static_cast<size_t>(i - period)];
      run = same ? run + 1 : period;
      if (run >= min_rounds * period) longest = std::max(longest, run);
    }
  }
  return longest;
}

bool is_loop(std::span<const int32_t> output, std::span<const int32_t> source) {
  const int64_t loop = longest_loop(output);
  return loop >= min_loop && loop > 2 * longest_loop(source);
}

}  // namespace dragoman::internal
