// What a search is asked for, and what it answers. Each request brings its own options: one batch holds greedy
// searches, beams of any width and samples, with and without a shortlist.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/attention.h"
#include "search/beam/beam.h"
#include "search/options.h"
#include "search/shortlist.h"
#include "text/languages.h"

namespace dragoman::internal {

// A segment that somebody has translated before, whose source is similar.
struct Neighbour {
  std::vector<int32_t> source,
      target;  // as the first model reads and writes them, without start and end of the target

  bool operator==(const Neighbour&) const = default;
};

struct SearchRequest {
  std::vector<int32_t> source;  // at least one token; a language model does not look at it
  std::vector<std::vector<int32_t>> other_sources =
      {};  // as each model but the first reads it; none: the same
  std::optional<StartTokens> start =
      {};                            // what the decoder reads before the output; none: that of the settings
  std::vector<int32_t> prefix = {};  // the output begins with it
  int32_t forbidden = -1;            // a token that the output does not have; −1: none
  SearchTerms terms = {};            // the output has them
  std::vector<Neighbour> neighbours = {};  // what the output is likely to say (neighbours.h)
  SearchOptions options = {};              // `shortlist` here counts, the flag there does not
  const Shortlist* shortlist = nullptr;    // null: the output may consist of all words
  int64_t attention_layer = 0;             // of the first model, whose attention is wanted; 0: none
  SourceMarks marks = {};                  // in the source, for a coverage penalty
  bool progress = false;                   // whether it is reported by progress()
  // An output that loops is searched for again without repeating n-grams of this length; what that might change is not
  // reported as final. 0: no second search.
  int64_t retry_ngram = 0;

  const std::vector<int32_t>& source_of(size_t model) const {
    return model == 0 || other_sources.empty() ? source : other_sources.at(model - 1);
  }
};

// A finished hypothesis, and what it attended to where options ask for that.
struct ScoredHypothesis {
  Hypothesis hypothesis;
  AttentionRows attention;
};

struct FoundSentence {
  std::vector<ScoredHypothesis> hypotheses = {};  // the best first; at least one
  bool repeats = false;  // the output looped: it was searched for again, if that was asked for
};

// Of hypotheses that have finished, the best first. With a coverage penalty they are ranked anew, by their scores plus
// the penalty's weight times coverage(), and the best `nbest` remain.
FoundSentence found_sentence(std::vector<Hypothesis> finished, const SearchRequest& request, size_t nbest);

struct SearchResult {
  uint64_t id;
  bool failed = false;  // the model computed non-finite values for it: nothing was found
  FoundSentence found = {};
};

// The best hypothesis of a request so far.
struct SearchProgress {
  uint64_t id = 0;
  std::vector<int32_t> tokens = {};
  size_t final_tokens = 0;  // this many of the first are in the result, too
};

}  // namespace dragoman::internal
