#include "search/beam/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"

namespace dragoman::internal {
namespace {

struct Choice {
  int32_t column;
  double weight;  // its probability after temperature, not normalised
};

// The most likely first.
std::tuple<double, int32_t> order(const Choice& choice) { return {-choice.weight, choice.column}; }

// All columns that may follow.
std::vector<Choice> choices(std::span<const float> row, double temperature) {
  const double top = static_cast<double>(std::ranges::max(row));
  std::vector<Choice> all;
  for (size_t i = 0; i < row.size(); ++i) {
    const double weight = std::exp((static_cast<double>(row[i]) - top) / temperature);
    if (weight > 0) all.push_back({static_cast<int32_t>(i), weight});
  }
  return all;
}

double total_weight(const std::vector<Choice>& all) {
  double total = 0;
  for (const Choice& choice : all) total += choice.weight;
  return total;
}

void keep_most_likely(std::vector<Choice>& all, size_t most) {
  const size_t kept = std::min(all.size(), most);
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept), {}, order);
  all.resize(kept);
}

// Keeps the most likely ones that together reach this share of the total weight: the nucleus (Holtzman et al., 2020).
// Most often they are few, which a heap finds without sorting the others.
void keep_share(std::vector<Choice>& all, double share) {
  const double wanted = share * total_weight(all);
  std::vector<Choice> kept;
  std::ranges::make_heap(all, std::greater(), order);
  for (double sum = 0; !all.empty() && sum < wanted; sum += kept.back().weight) {
    std::ranges::pop_heap(all, std::greater(), order);
    kept.push_back(all.back());
    all.pop_back();
  }
  all = std::move(kept);
}

}  // namespace

Element draw(std::span<const float> log_probabilities, const SearchOptions& options, uint64_t key) {
  std::vector<Choice> all = choices(log_probabilities, options.temperature);
  if (options.top_k > 0) keep_most_likely(all, static_cast<size_t>(options.top_k));
  if (options.top_p < 1) keep_share(all, options.top_p);
  if (all.empty()) return {-1, 0};
  size_t drawn = 0;
  double left = Random(key).uniform() * total_weight(all) - all[0].weight;
  while (left >= 0 && drawn + 1 < all.size()) left -= all[++drawn].weight;
  const int32_t column = all[drawn].column;
  return {column, log_probabilities[static_cast<size_t>(column)]};
}

uint64_t source_key(std::span<const int32_t> source) {
  uint64_t key = source.size();
  for (const int32_t id : source) key = mix(key, static_cast<uint64_t>(id));
  return key;
}

uint64_t draw_key(const SearchOptions& options, uint64_t source, uint64_t sample, uint64_t position) {
  return mix(mix(mix(static_cast<uint64_t>(options.seed), source), sample), position);
}

}  // namespace dragoman::internal
