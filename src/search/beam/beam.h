// The search for one sentence's best translations: a beam, and the functions that take it a token further.
//
//   expand    the most likely continuations of each open hypothesis
//   prune     the best of them all
//   finish    those that end are set aside with their scores; those that can still win stay open
//   reorder   the open hypotheses keep the keys and values of their tokens, and those of others are freed
//
// Greedy search is a beam of one; sampling is beams whose expansion is drawn (sampling.h). The functions know neither
// the model nor other sentences: what a beam finds is a function of its own hypotheses' log-probabilities.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "model/cache.h"
#include "search/beam/terms.h"
#include "search/options.h"

namespace dragoman::internal {

constexpr float no_probability =
    -std::numeric_limits<float>::infinity();  // the log-probability of what may not follow

struct Hypothesis {
  std::vector<int32_t> tokens;           // of the output, without its end mark
  std::vector<float> log_probabilities;  // of its tokens, and of the end mark of a finished one
  double total = 0;                      // their sum
  double score = 0;                      // of a finished one: the sum, divided by the length penalty
  bool cut = false;                      // it ended at the maximum length
  std::vector<int32_t> rows = {};        // of an open one: where the caches have what it read
  TermProgress terms = {};               // of the beam's terms
  // Where it is wanted: what each token, and the end mark, attended to. Hypotheses share those of their common tokens.
  std::vector<std::shared_ptr<const std::vector<float>>> attention = {};
};

struct Beam {
  int32_t end = -1;  // the mark that ends an output; −1: there is none, and all have max_length
  int64_t min_length = 0, max_length = 0;
  int64_t forced_length = 0;         // tokens before the output that its length counts for the score
  std::vector<int32_t> prefix = {};  // the output begins with it, or preferably so
  int64_t no_repeat_ngram = 0;
  std::vector<int32_t> suppressed = {};  // tokens that are never output
  SearchTerms terms = {};                // that the output has, once each
  int64_t source_length = 0;             // by whose length penalty the terms' part of a score is divided
  std::vector<double> term_costs = {};   // of each: the least that a hypothesis has paid for it

  std::vector<Hypothesis> open = {Hypothesis{}};  // all of one length; the best first
  std::vector<Hypothesis> finished = {};          // the best first; at most `nbest`, once the search is over
};

// An open hypothesis with one more token.
struct Candidate {
  int32_t parent;
  int32_t token;
  float log_probability;
  double total;
  TermStep term = {};
};

// `next`: what may follow each open hypothesis and its log-probability, the same number for each, filled up with column
// −1. Column i is word i, or words[i] where these are given. Tokens that are never output are left out.
std::vector<Candidate> expand(const Beam& beam, std::span<const Element> next,
                              std::span<const int32_t> words = {});

// The `width` best, the best first. Equals keep the order of their parents, then of their tokens.
void prune(std::vector<Candidate>& candidates, int64_t width);

// The beam after these candidates, in the order of prune. Once `nbest` are finished, open ones that cannot beat the
// worst of them whatever follows are dropped: the search is over when none is open. Where nothing may follow, the open
// ones end as they are. BeamEnding says what other rules keep, and when they end.
void finish(Beam& beam, const std::vector<Candidate>& candidates, const SearchOptions& options);

// The sum of a hypothesis's log-probabilities so far, divided by the length penalty.
double score_so_far(const Hypothesis& hypothesis, const Beam& beam, const SearchOptions& options);

// The best score that an open hypothesis can still get, whatever follows.
double best_possible_score(const Hypothesis& open, const Beam& beam, const SearchOptions& options);

// Counts the rows of the beam's open hypotheses as used, and those of their parents, `before`, no longer.
void reorder(const Beam& beam, std::span<const int32_t> before, CacheRows& rows);

}  // namespace dragoman::internal
