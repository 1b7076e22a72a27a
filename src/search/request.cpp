#include "search/request.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "search/beam/repetition.h"

namespace dragoman::internal {
namespace {

void rank_by_coverage(const SearchRequest& request, size_t nbest, std::vector<ScoredHypothesis>& hypotheses) {
  for (ScoredHypothesis& h : hypotheses)
    h.hypothesis.score +=
        request.options.coverage_penalty * coverage(h.attention, request.source, request.marks);
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
