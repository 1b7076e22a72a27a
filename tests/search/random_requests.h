// Requests of every kind, made up: what the tests of mixed batches share.
#pragma once

#include "model/small_models.h"
#include "search/stepped.h"

namespace dragoman::internal {

class RandomRequests {
 public:
  RandomRequests(uint64_t seed, int64_t vocabulary) : random_(seed), vocabulary_(vocabulary) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }
  bool one_in(int64_t n) { return below(n) == 0; }

  Sentence words(int64_t longest) {
    Sentence ids(static_cast<size_t>(1 + below(longest)));
    for (int32_t& id : ids) id = static_cast<int32_t>(3 + below(vocabulary_ - 3));
    return ids;
  }

  SearchOptions options() {
    SearchOptions o = {.beam = 1 + below(2) * below(6), .max_length = 3 + below(16)};
    o.nbest = 1 + below(o.beam);
    o.length_penalty = 0.5 * static_cast<double>(below(4));
    if (one_in(4)) o.penalty_form = LengthPenalty::plain;
    if (one_in(4)) o.max_length_ratio = 0.5;
    if (one_in(4)) o.min_length = below(o.max_length);
    if (one_in(4)) o.no_repeat_ngram = 1 + below(3);
    if (one_in(5)) o.repetition_penalty = 1.3;
    if (one_in(3)) o.prefix_bias = 0.4;
    if (!one_in(3)) return o;
    o.sample = true, o.nbest = 1 + below(3), o.seed = below(3);
    if (one_in(2)) o.temperature = 0.7;
    if (one_in(3)) o.top_k = 4;
    if (one_in(3)) o.top_p = 0.8;
    return o;
  }

  // With `edges` some have terms, of any tokens.
  SearchTerms terms(size_t source, const WordEdges& edges) {
    SearchTerms terms = {.edges = &edges, .attention_layer = 1 + below(2)};
    for (int64_t i = below(4); i >= 0; --i) {
      const size_t begin = static_cast<size_t>(below(static_cast<int64_t>(source)));
      SearchTerm& term = terms.all.emplace_back(SearchTerm{.begin = begin, .end = begin + 1});
      for (int64_t form = below(3); form >= 0; --form) term.forms.push_back({words(3), form == 0});
    }
    return terms;
  }

  SearchRequest request(const Shortlist* shortlist, const WordEdges* edges = nullptr) {
    SearchRequest request = {.source = words(14), .options = options()};
    if (one_in(3)) request.prefix = words(4);
    if (one_in(3)) request.shortlist = shortlist;
    request.attention_layer = below(3);
    request.progress = one_in(3);
    for (int64_t i = one_in(3) ? 1 + below(3) : 0; i > 0; --i)
      request.neighbours.push_back({one_in(2) ? request.source : words(9), words(9)});
    if (edges != nullptr && one_in(3)) {
      request.terms = terms(request.source.size(), *edges);
      if (request.attention_layer > 0) request.attention_layer = request.terms.attention_layer;
    }
    return request;
  }

 private:
  Random random_;
  const int64_t vocabulary_;
};

// Whatever searches, until it is done: the results by id.
template <class Searching>
std::map<uint64_t, RequestResult> run(Searching& search) {
  std::map<uint64_t, RequestResult> results;
  while (search.busy()) {
    for (RequestResult& result : search.step()) {
      EXPECT_FALSE(results.contains(result.id));
      results.emplace(result.id, std::move(result));
    }
  }
  return results;
}

inline void expect_same_result(const RequestResult& got, const RequestResult& wanted) {
  SCOPED_TRACE("request " + std::to_string(wanted.id));
  EXPECT_EQ(got.status, wanted.status);
  ASSERT_EQ(got.hypotheses.size(), wanted.hypotheses.size());
  for (size_t i = 0; i < got.hypotheses.size(); ++i) {
    const Hypothesis &a = got.hypotheses[i], &b = wanted.hypotheses[i];
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_EQ(a.score, b.score);
    EXPECT_EQ(a.total, b.total);
    EXPECT_EQ(a.cut, b.cut);
    EXPECT_TRUE(same_bits(a.log_probabilities, b.log_probabilities));
  }
  EXPECT_EQ(got.attention, wanted.attention);
}

}  // namespace dragoman::internal
