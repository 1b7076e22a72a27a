#include "search/request.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "search/beam/repetition.h"

namespace dragoman::internal {
namespace {

constexpr double term_brevity = 0.4;  // the score's loss for each token that an output with terms is short

// The text, without terms: every hypothesis that has them says these parts, and would only say them twice.
std::vector<bool> covered_tokens(const SearchRequest& request) {
  std::vector<bool> counts;
  for (const int32_t id : request.source) counts.push_back(!request.marks.contain(id));
  for (const SearchTerm& term : request.terms.all) {
    for (size_t i = term.begin; i < term.end; ++i) counts[i] = false;
  }
  return counts;
}

// How many tokens fewer than the source a hypothesis has, both without their terms.
int64_t missing_length(const SearchRequest& request, const std::vector<bool>& counts, const Hypothesis& h) {
  int64_t length = std::ssize(h.tokens);
  for (const SearchTerm& term : request.terms.all) length -= static_cast<int64_t>(term.min_length());
  return std::max<int64_t>(std::ranges::count(counts, true) - length, 0);
}

// After an unlikely term a model finds an early end likely, so outputs with terms lose for what they are short, too.
void rank_by_coverage(const SearchRequest& request, size_t nbest, std::vector<ScoredHypothesis>& hypotheses) {
  const std::vector<bool> counts = covered_tokens(request);
  for (ScoredHypothesis& h : hypotheses) {
    h.hypothesis.score += request.options.coverage_penalty * coverage(h.attention, counts);
    if (!request.terms.all.empty())
      h.hypothesis.score -= term_brevity * static_cast<double>(missing_length(request, counts, h.hypothesis));
  }
  std::ranges::stable_sort(hypotheses, {}, [](const ScoredHypothesis& h) {
    return std::tuple(h.hypothesis.terms.missed(), -h.hypothesis.score);
  });
  hypotheses.resize(std::min(hypotheses.size(), nbest));
}

}  // namespace

FoundSentence found_sentence(std::vector<Hypothesis> finished, const SearchRequest& request, size_t nbest) {
  FoundSentence found;
  for (Hypothesis& h : finished) {
    AttentionRows rows;
    if (request.attention_layer > 0)
      for (const auto& row : h.attention) rows.push_back(*row);
    h.attention.clear();
    found.hypotheses.push_back({std::move(h), std::move(rows)});
  }
  if (request.options.coverage_penalty > 0) rank_by_coverage(request, nbest, found.hypotheses);
  found.repeats = is_loop(found.hypotheses[0].hypothesis.tokens, request.source);
  return found;
}

}  // namespace dragoman::internal
