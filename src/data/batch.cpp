#include "data/batch.h"

#include <algorithm>
#include <numeric>

namespace dragoman::internal {
namespace {

PackedView view(const PackedSide& side) { return {side.ids, side.lengths}; }

template <class T>
std::span<const T> take(std::span<const T>& rest, size_t count) {
  const std::span<const T> taken = rest.first(count);
  rest = rest.subspan(count);
  return taken;
}

}  // namespace

BatchSlice whole(const Batch& batch) {
  return {batch.pairs,   view(batch.source), view(batch.target_input),
          batch.targets, batch.links.counts, batch.links.sources};
}

int64_t slice_count(const Batch& batch, int64_t part_tokens) {
  const int64_t tokens = std::max(batch.source_tokens(), batch.target_tokens());
  if (part_tokens == 0 || tokens == 0) return 1;
  return std::min(1 + (tokens - 1) / part_tokens, batch.source.sentences());
}

// Cuts where the slice's tokens, of both sides, come nearest to its share of those left.
BatchSlice take_slice(BatchSlice& rest, int64_t slices) {
  const size_t all = rest.source.ids.size() + rest.targets.size(), shares = static_cast<size_t>(slices);
  const size_t most = rest.pairs.size() - (shares - 1);  // leave a sentence for each of the other slices
  size_t sentences = 0, source = 0, target = 0;
  while (sentences < most) {
    const auto more_source = static_cast<size_t>(rest.source.lengths[sentences]),
               more_target = static_cast<size_t>(rest.target_input.lengths[sentences]);
    const size_t middle_twice = 2 * (source + target) + more_source + more_target;
    if (sentences > 0 && shares * middle_twice > 2 * all) break;
    source += more_source;
    target += more_target;
    ++sentences;
  }
  const auto counts = take(rest.link_counts, rest.link_counts.empty() ? 0 : target);
  const auto links = static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  return {.pairs = take(rest.pairs, sentences),
          .source = {take(rest.source.ids, source), take(rest.source.lengths, sentences)},
          .target_input = {take(rest.target_input.ids, target), take(rest.target_input.lengths, sentences)},
          .targets = take(rest.targets, target),
          .link_counts = counts,
          .linked_sources = take(rest.linked_sources, links)};
}

}  // namespace dragoman::internal
