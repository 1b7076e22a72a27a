// Parts of a text whose translation is given, for the searches of its segments: as tokens that an output must have, or,
// for a model that was trained to read them (text/term_marks.h), in the source, which costs a search nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "search/beam/terms.h"
#include "search/segments.h"
#include "text/spans.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// The coverage penalty of a search with terms, where options have none: after the unlikely words of a term a model is
// quick to end, and of the hypotheses that have their terms, one that says the rest of the source, too, is to win.
constexpr double term_coverage = 0.3;

// A part of a text whose translation is given.
struct GivenTerm {
  TextSpan source;                   // in code points
  std::vector<std::string> targets;  // one of them comes out; the first is preferred
};

// How a vocabulary spells targets: as the beginning of a word, and without a space before it.
class TermSpelling {
 public:
  explicit TermSpelling(std::shared_ptr<const Vocabulary> target);

  // Those that give the target's text back, character by character; none where the vocabulary lacks one of them.
  std::vector<TermForm> forms_of(const std::vector<std::string>& targets);
  const WordEdges& edges() const { return edges_; }

 private:
  const std::vector<std::vector<int32_t>>& spellings_of(const std::string& target);

  std::shared_ptr<const Vocabulary> vocabulary_;
  WordEdges edges_;
  std::unordered_map<std::string, std::vector<std::vector<int32_t>>> known_;
};

struct PlacedTerms {
  std::vector<SearchTerms> of_segments;
  // Targets of those in segments that are not searched for.
  std::vector<std::vector<std::string>> of_known = {};
  bool missed = false;  // some term is not in one segment as a whole, or cannot be spelt
};

// Of terms that overlap the leftmost is placed, of those that begin together the longest.
PlacedTerms place_terms(std::vector<GivenTerm> terms, std::string_view line,
                        const std::vector<Segment>& segments, int64_t attention_layer,
                        TermSpelling& spelling);

// For a model that reads terms: puts the first target of each into the segments of a line, unless it is in no single
// segment or would make that longer than the sources of the training. Overlaps are settled as above. Returns all
// targets, which the model may write or not.
std::vector<std::vector<std::string>> add_to_sources(std::vector<GivenTerm> terms, std::string_view line,
                                                     const SavedModel& model, std::vector<Segment>& segments);

}  // namespace dragoman::internal
