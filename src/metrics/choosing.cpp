#include "metrics/choosing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "metrics/chrf.h"

namespace dragoman::internal {

std::vector<size_t> by_nearness(std::span<const std::string> hypotheses, std::string_view reference) {
  std::vector<double> scores;
  for (const std::string& hypothesis : hypotheses)
    scores.push_back(chrf_score(chrf_statistics(hypothesis, reference)));
  std::vector<size_t> places(hypotheses.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, std::ranges::greater(), [&](size_t place) { return scores[place]; });
  return places;
}

size_t nearest_to_reference(std::span<const std::string> hypotheses, std::string_view reference) {
  CHECK(!hypotheses.empty());
  return by_nearness(hypotheses, reference).front();
}

}  // namespace dragoman::internal
