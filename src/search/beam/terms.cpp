#include "search/beam/terms.h"

#include <algorithm>

namespace dragoman::internal {

size_t SearchTerm::min_length() const {
  size_t least = 0;
  for (const TermForm& form : forms)
    least = least == 0 ? form.tokens.size() : std::min(least, form.tokens.size());
  return least;
}

size_t SearchTerms::count_without_forms() const {
  return static_cast<size_t>(
      std::ranges::count_if(all, [](const SearchTerm& term) { return term.forms.empty(); }));
}

void SearchTerms::drop_too_long(int64_t length) {
  size_t left = static_cast<size_t>(std::max<int64_t>(length, 0));
  for (SearchTerm& term : all) {
    if (term.min_length() <= left) {
      left -= term.min_length();
    } else {
      term.forms.clear();
    }
  }
}

namespace {

// The tokens before the newest end with a term that the model has written by itself.
void take_own(const TermChoices& choices, std::span<const float> before, TermProgress& progress) {
  TermState& own = progress.states[static_cast<size_t>(choices.own)];
  own.begun = true;
  ++progress.begun;
  for (const float log_p : before.last(choices.own_length)) own.paid -= static_cast<double>(log_p);
  progress.cost += own.paid;
  progress.own_end = before.size();
}

void begin(const TermStep& step, TermProgress& progress) {
  progress.term = step.begins;
  progress.form = step.form;
  progress.written = 0;
  progress.bias += step.bias;
  ++progress.begun;
  TermState& state = progress.states[static_cast<size_t>(step.begins)];
  state.begun = true;
  state.paid = -step.bias;
}

}  // namespace

void follow(const SearchTerms& terms, const TermStep& step, std::span<const float> log_probabilities,
            TermProgress& progress) {
  progress.closed = false;
  if (step.ends_own) take_own(*step.choices, log_probabilities.first(log_probabilities.size() - 1), progress);
  if (step.begins >= 0) begin(step, progress);
  if (!progress.writing()) {
    for (size_t i = 0; i < step.choices->attention.size(); ++i)
      if (!progress.states[i].begun) progress.states[i].passed_by += step.choices->attention[i];
    return;
  }
  const auto term = static_cast<size_t>(progress.term), form = static_cast<size_t>(progress.form);
  progress.states[term].paid -= static_cast<double>(log_probabilities.back());
  progress.cost -= static_cast<double>(log_probabilities.back());
  if (++progress.written < terms.all[term].forms[form].tokens.size()) return;
  progress.term = -1;
  progress.own_end = log_probabilities.size();
  progress.closed = true;
}

double missing_cost(const TermProgress& progress, std::span<const double> costs) {
  double cost = 0;
  for (size_t i = 0; i < progress.states.size(); ++i)
    if (!progress.states[i].begun) cost += costs[i];
  return cost;
}

}  // namespace dragoman::internal
