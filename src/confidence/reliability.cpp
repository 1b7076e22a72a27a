#include "confidence/reliability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// From 0 on; equal values share the mean of theirs.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<double> all(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) all[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return all;
}

}  // namespace

Reliability reliability(std::span<const double> probabilities, std::span<const double> right) {
  CHECK(probabilities.size() == right.size(), "{} and {} cases", probabilities.size(), right.size());
  constexpr size_t count = 10;
  Reliability result = {.bins = std::vector<ReliabilityBin>(count), .error = 0};
  for (size_t i = 0; i < right.size(); ++i) {
    const auto tenth = static_cast<size_t>(probabilities[i] * static_cast<double>(count));
    ReliabilityBin& bin = result.bins[std::min(tenth, count - 1)];
    ++bin.cases;
    bin.confidence += probabilities[i];
    bin.right += right[i];
  }
  for (ReliabilityBin& bin : result.bins) {
    if (bin.cases == 0) continue;
    result.error += std::abs(bin.confidence - bin.right) / static_cast<double>(right.size());
    bin.confidence /= static_cast<double>(bin.cases);
    bin.right /= static_cast<double>(bin.cases);
  }
  return result;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  CHECK(a.size() == b.size(), "{} and {} values", a.size(), b.size());
  const std::vector<double> ranks_a = ranks(a), ranks_b = ranks(b);
  const double mean = (static_cast<double>(a.size()) - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (ranks_a[i] - mean) * (ranks_b[i] - mean);
    aa += (ranks_a[i] - mean) * (ranks_a[i] - mean);
    bb += (ranks_b[i] - mean) * (ranks_b[i] - mean);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace dragoman::internal
