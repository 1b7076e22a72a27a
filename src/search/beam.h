// The search for one sentence's best translations: a beam, and the functions that take it a token further.
//
//   expand    the likeliest continuations of each open hypothesis
//   prune     the best of them all
//   finish    those that end are kept apart with their scores; those that can still win stay open
//   reorder   the open hypotheses keep the keys and values of what they said, and those of others are free again
//
// Greedy search is a beam of one; sampling is beams whose expansion is drawn (sampling.h). The functions know neither
// the model nor other sentences: what a beam finds is a function of the log-probabilities that its own hypotheses got.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/cache.h"
#include "search/options.h"

namespace dragoman {

struct Hypothesis {
  std::vector<int32_t> tokens;           // of the output, without its end mark
  std::vector<float> log_probabilities;  // of its tokens, and of the end mark once that has come
  double total = 0;                      // their sum
  double score = 0;                      // of a finished one: the sum, divided by the length penalty
  bool cut = false;                      // it had to end, and would have gone on
  std::vector<int32_t> rows = {};        // of an open one: where the keys and values of what it read are
};

struct Beam {
  // What holds for this sentence.
  int32_t end = -1;  // the mark that ends an output; −1: there is none, and all have max_length
  int64_t min_length = 0, max_length = 0;
  std::vector<int32_t> prefix = {};  // with which the output begins, or is to begin
  int64_t no_repeat_ngram = 0;

  std::vector<Hypothesis> open = {Hypothesis{}};  // all of one length; the best first
  std::vector<Hypothesis> finished = {};          // the best first, `nbest` at most
};

// An open hypothesis with one more token.
struct Candidate {
  int32_t parent;
  int32_t token;
  float log_probability;
  double total;
};

// `next`: what may follow each open hypothesis in turn and its log-probability, as many for each, column −1 where there
// are fewer. Column i is word i, or words[i] where these are given.
std::vector<Candidate> expand(const Beam& beam, std::span<const Element> next,
                              std::span<const int32_t> words = {});

// The `width` best, the best first. Equals keep the order of their parents, then of their tokens.
void prune(std::vector<Candidate>& candidates, int64_t width);

// The beam after these candidates. Once `nbest` are finished, an open one leaves that could not beat the worst of them
// whatever it said next: the search is over when none is open. Where nothing may follow, the open ones end as they are.
void finish(Beam& beam, const std::vector<Candidate>& candidates, const SearchOptions& options);

// The best score that an open hypothesis can still get, whatever follows.
double best_possible_score(const Hypothesis& open, const Beam& beam, const SearchOptions& options);

// The rows that are now used by the beam's open hypotheses, after those of `before` were used by their parents.
void reorder(const Beam& beam, std::span<const int32_t> before, CacheRows& rows);

}  // namespace dragoman
