#include "search/beam/term_choices.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dragoman::internal {
namespace {

using Ids = std::span<const int32_t>;

bool ends_with(Ids tokens, Ids end) {
  return tokens.size() >= end.size() && std::ranges::equal(tokens.last(end.size()), end);
}

// Whether these tokens are words of their own at the end of an output.
bool ends_with_words(Ids tokens, Ids words, const WordEdges& edges) {
  return ends_with(tokens, words) &&
         !edges.joins(last_of(tokens.first(tokens.size() - words.size())), words.front());
}

double share_of(const SearchTerm& term, std::span<const double> shares) {
  double sum = 0;
  for (size_t i = term.begin; i < term.end; ++i) sum += shares[i];
  return sum;
}

// Of all attention to the text of the source.
std::vector<double> shares_of_text(Ids source, std::span<const float> attention, const SourceMarks& marks) {
  std::vector<double> shares(attention.begin(), attention.end());
  double sum = 0;
  for (size_t i = 0; i < shares.size(); ++i) sum += shares[i] *= marks.contain(source[i]) ? 0 : 1;
  for (double& share : shares) share /= sum > 0 ? sum : 1;
  return shares;
}

// The longest term that the tokens end with, and that is still to come.
void find_own_term(const Beam& beam, const Hypothesis& h, TermChoices& choices) {
  const Ids tokens = Ids(h.tokens).subspan(h.terms.own_end);
  for (size_t i = 0; i < beam.terms.all.size(); ++i) {
    if (h.terms.states[i].begun) continue;
    for (const TermForm& form : beam.terms.all[i].forms) {
      if (form.tokens.size() <= choices.own_length || form.tokens.size() > tokens.size()) continue;
      if (!ends_with_words(h.tokens, form.tokens, *beam.terms.edges)) continue;
      choices.own = static_cast<int32_t>(i);
      choices.own_length = form.tokens.size();
    }
  }
}

bool another_has_form(const Beam& beam, const Hypothesis& h, const TermChoices& choices,
                      const TermForm& form) {
  for (size_t i = 0; i < beam.terms.all.size(); ++i) {
    const auto& forms = beam.terms.all[i].forms;
    if (is_to_come(h, choices, i) && std::ranges::count(forms, form.tokens, &TermForm::tokens) > 0)
      return true;
  }
  return false;
}

void forbid_second(const Beam& beam, const Hypothesis& h, const TermChoices& choices, const NextWords& row) {
  for (size_t i = 0; i < beam.terms.all.size(); ++i) {
    if (is_to_come(h, choices, i)) continue;
    for (const TermForm& form : beam.terms.all[i].forms) {
      const Ids before = Ids(form.tokens).first(form.tokens.size() - 1);
      const bool would_end = before.empty() ? !beam.terms.edges->joins(last_of(h.tokens), form.tokens[0])
                                            : ends_with_words(h.tokens, before, *beam.terms.edges);
      if (would_end && !another_has_form(beam, h, choices, form)) forbid(form.tokens.back(), row);
    }
  }
}

void forbid_joining(int32_t last, const WordEdges& edges, const NextWords& row) {
  for (size_t i = 0; i < row.log_probabilities.size(); ++i) {
    const int32_t token = row.words.empty() ? static_cast<int32_t>(i) : row.words[i];
    if (edges.joins(last, token)) row.log_probabilities[i] = no_probability;
  }
}

void find_begins(const Beam& beam, const Hypothesis& h, const NextWords& row, TermChoices& choices) {
  const WordEdges& edges = *beam.terms.edges;
  if (edges.end_inside_character(h.tokens)) return;
  for (size_t i = 0; i < beam.terms.all.size(); ++i) {
    if (!is_to_come(h, choices, i)) continue;
    const auto& forms = beam.terms.all[i].forms;
    for (size_t f = 0; f < forms.size(); ++f) {
      const int32_t token = forms[f].tokens[0];
      const float* const log_p = row.find(token);
      if (std::ssize(forms[f].tokens) > beam.max_length - std::ssize(h.tokens) || log_p == nullptr ||
          !std::isfinite(*log_p) || !edges.may_begin(last_of(h.tokens), token))
        continue;
      choices.starts.push_back({static_cast<int32_t>(i), static_cast<int32_t>(f), token, *log_p});
    }
  }
}

}  // namespace

bool is_to_come(const Hypothesis& h, const TermChoices& choices, size_t term) {
  return !h.terms.states[term].begun && std::cmp_not_equal(term, choices.own);
}

bool wants_attention(const Beam& beam, const Hypothesis& h) {
  return !h.terms.writing() && h.terms.missed() > 0 && h.tokens.size() >= beam.prefix.size();
}

TermChoices term_choices(const Beam& beam, const Hypothesis& h, Ids source, std::span<const float> attention,
                         const NextWords& row) {
  TermChoices choices;
  if (h.terms.writing()) {
    const TermForm& form =
        beam.terms.all[static_cast<size_t>(h.terms.term)].forms[static_cast<size_t>(h.terms.form)];
    const float* const next = row.find(form.tokens[h.terms.written]);
    choices.next = next != nullptr ? *next : no_probability;
    return choices;
  }
  find_own_term(beam, h, choices);
  if (h.tokens.size() < beam.prefix.size()) return choices;
  if (!attention.empty()) {
    const std::vector<double> shares = shares_of_text(source, attention, beam.terms.marks);
    for (const SearchTerm& term : beam.terms.all) choices.attention.push_back(share_of(term, shares));
    find_begins(beam, h, row, choices);
  }
  forbid_second(beam, h, choices, row);
  if (h.terms.closed) forbid_joining(last_of(h.tokens), *beam.terms.edges, row);
  return choices;
}

}  // namespace dragoman::internal
