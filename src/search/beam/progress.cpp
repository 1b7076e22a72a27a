#include "search/beam/progress.h"

#include <algorithm>
#include <span>

namespace dragoman::internal {
namespace {

using Output = std::span<const int32_t>;

// With a coverage penalty all finished ones are ranked again: each of them can win.
std::vector<const Hypothesis*> possible_winners(const Beam& beam, const SearchOptions& options) {
  const bool reranked = options.coverage_penalty > 0;
  std::vector<const Hypothesis*> winners;
  for (const Hypothesis& h : beam.finished) {
    winners.push_back(&h);
    if (!reranked) break;
  }
  for (const Hypothesis& h : beam.open) {
    const bool beaten = !reranked && !beam.finished.empty() && beam.finished[0].terms.missed() == 0 &&
                        best_possible_score(h, beam, options) <= beam.finished[0].score;
    if (!beaten) winners.push_back(&h);
  }
  return winners;
}

size_t common_length(Output a, Output b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// Whether the last n tokens have come in this order before.
bool repeats_ngram(Output tokens, int64_t n) {
  const auto count = static_cast<size_t>(n);
  if (count == 0) return true;
  if (tokens.size() <= count) return false;
  const Output earlier = tokens.first(tokens.size() - 1), last = tokens.last(count);
  return std::search(earlier.begin(), earlier.end(), last.begin(), last.end()) != earlier.end();
}

}  // namespace

const Hypothesis* leading(const Beam& beam, const SearchOptions& options) {
  const auto winners = possible_winners(beam, options);
  const auto best = std::ranges::max_element(
      winners, {}, [&](const Hypothesis* h) { return score_so_far(*h, beam, options); });
  return best == winners.end() ? nullptr : *best;
}

size_t common_tokens(const Beam& beam, const SearchOptions& options) {
  const auto winners = possible_winners(beam, options);
  if (winners.empty()) return 0;
  size_t common = winners[0]->tokens.size();
  for (const Hypothesis* h : winners) common = std::min(common, common_length(winners[0]->tokens, h->tokens));
  return common;
}

// A ban changes what a beam keeps once it keeps a repeated n-gram. What is drawn it changes as soon as there is a
// token to ban: after the first n − 1 tokens of a repeated one.
void FinalPrefix::update(const Beam& beam, const SearchOptions& options, int64_t retry_ngram) {
  if (uncertain_) return;
  const bool retried = retry_ngram > 0 && beam.no_repeat_ngram == 0;
  const int64_t n = options.sample ? retry_ngram - 1 : retry_ngram;
  uncertain_ = retried && std::ranges::any_of(
                              beam.open, [&](const Hypothesis& h) { return repeats_ngram(h.tokens, n); });
  if (!uncertain_ || options.sample) tokens_ = common_tokens(beam, options);
}

}  // namespace dragoman::internal
