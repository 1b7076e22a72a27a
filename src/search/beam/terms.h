// Terms: parts of a source whose translation is given, as a search has them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/attention.h"
#include "search/beam/word_edges.h"

namespace dragoman::internal {

// One way in which a target can stand in an output.
struct TermForm {
  std::vector<int32_t> tokens;
  bool preferred = true;  // of the first target
};

struct SearchTerm {
  size_t begin = 0, end = 0;    // the tokens of the source that it is about
  std::vector<TermForm> forms;  // at least one

  size_t min_length() const;  // of its shortest form; 0: it has none
};

// What the terms of a request are to its search.
struct SearchTerms {
  std::vector<SearchTerm> all = {};
  SourceMarks marks = {};  // tokens of the source that are not text: attention to them counts for nothing
  const WordEdges* edges = nullptr;  // of the target's vocabulary
  int64_t attention_layer = 0;       // by which terms are placed

  size_t count_without_forms() const;
  // Takes the forms from the last ones that do not fit into an output of this length together with those before them.
  void drop_too_long(int64_t length);
};

// A hypothesis's progress on one term.
struct TermState {
  bool begun = false;    // all of it is in the output, or it is being written
  double paid = 0;       // what its tokens, and the place where it began, have cost so far
  double passed_by = 0;  // attention to its source while other words were written
};

struct TermProgress {
  std::vector<TermState> states = {};  // of each term
  int32_t begun = 0;                   // how many of them
  double cost = 0;                     // −Σ log p of the tokens that belong to terms
  double bias = 0;  // added to the totals when comparing hypotheses that have begun equally many terms

  // The one that is being written; term −1: none.
  int32_t term = -1, form = 0;
  size_t written = 0;   // of its tokens
  size_t own_end = 0;   // tokens of the output up to here belong to terms, or are before one
  bool closed = false;  // the newest token ends a term: no token may join it

  bool writing() const { return term >= 0; }
  size_t missed() const { return states.size() - static_cast<size_t>(begun); }
};

// What the terms make of the words that may follow a hypothesis.
struct TermChoices {
  struct Start {
    int32_t term, form, token;
    float log_probability;
  };
  std::vector<double> attention = {};  // of each term: the share of its source in what the model attends to
  std::vector<Start> starts = {};      // of terms that may begin here, whatever the attention says
  float next = 0;                      // log p of the next token of the term that is being written
  int32_t own = -1;       // the model has written this term by itself, unless its last word goes on
  size_t own_length = 0;  // in tokens
};

// A token's effect on its hypothesis's terms.
struct TermStep {
  int32_t begins = -1, form = 0;         // it begins this form of this term
  bool ends_own = false;                 // the term that the model has written by itself ends before it
  double bias = 0;                       // added to the hypothesis's own
  const TermChoices* choices = nullptr;  // what this was chosen from
};

// The progress of a hypothesis after one more token. `log_probabilities`: of its tokens, that one the last.
void follow(const SearchTerms& terms, const TermStep& step, std::span<const float> log_probabilities,
            TermProgress& progress);

// The least that the terms that a hypothesis has not begun will cost it; `costs`: of each term.
double missing_cost(const TermProgress& progress, std::span<const double> costs);

}  // namespace dragoman::internal
