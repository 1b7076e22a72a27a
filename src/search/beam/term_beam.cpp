#include "search/beam/term_beam.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace dragoman::internal {
namespace {

// Tuned on translations with terms from their references (bench/terms.cpp).
constexpr double min_attention = 0.1;       // with which a term may begin
constexpr double decisive_attention = 0.3;  // with which a single hypothesis begins it
constexpr double attention_weight = 3;      // of the log attention where a term begins, relative to log p
constexpr double attention_floor = 1e-3;    // less counts as this much
constexpr double passed_weight = 2;         // of attention to the term's source before it begins
constexpr double passed_limit = 1;          // the term's place has gone by
constexpr double other_form = -0.5;         // added to log p, for forms that are not preferred

constexpr int64_t max_character_bytes = 4;  // bytes of byte fallback, inside which no term begins

// What may follow one open hypothesis.
class Expansion {
 public:
  Expansion(const Beam& beam, int32_t parent, const TermChoices& choices, bool single,
            std::vector<Candidate>& candidates)
      : beam_(beam),
        parent_(parent),
        h_(beam.open[static_cast<size_t>(parent)]),
        choices_(choices),
        single_(single),
        candidates_(candidates) {}

  void expand(std::span<const Element> next, std::span<const int32_t> words) {
    if (h_.terms.writing()) return go_on_writing();
    const auto token_of = [&](const Element& e) {
      return e.column < 0 || words.empty() ? e.column : words[static_cast<size_t>(e.column)];
    };
    int64_t needed = 0;  // tokens of the terms to come
    for (size_t i = 0; i < beam_.terms.all.size(); ++i)
      if (is_to_come(h_, choices_, i)) needed += static_cast<int64_t>(beam_.terms.all[i].min_length());
    const bool would_end = !next.empty() && next[0].column >= 0 && token_of(next[0]) == beam_.end;
    const bool must_begin =
        needed > 0 && (would_end || needed + max_character_bytes >= beam_.max_length - std::ssize(h_.tokens));
    const size_t before = candidates_.size();
    if (must_begin || !word_goes_on(next, token_of)) add_starts(must_begin);
    const bool has_begun = candidates_.size() > before;
    if (has_begun && (must_begin || single_)) return;
    for (const Element& e : next) {
      const int32_t token = token_of(e);
      if (token < 0 || !std::isfinite(e.value)) continue;
      if (std::ranges::find(beam_.suppressed, token) != beam_.suppressed.end()) continue;
      if (token != beam_.end || needed == 0) add(token, e.value, {});
    }
    // Better without a term than without an end.
    if (candidates_.size() == before && would_end) add(beam_.end, next[0].value, {});
  }

 private:
  // A term must not begin after "Utilis" if the model is about to write "Utilisez".
  template <typename TokenOf>
  bool word_goes_on(std::span<const Element> next, const TokenOf& token_of) const {
    double on = 0, not_on = 0;
    for (const Element& e : next) {
      if (token_of(e) < 0 || !std::isfinite(e.value)) continue;
      (beam_.terms.edges->joins_letters(last_of(h_.tokens), token_of(e)) ? on : not_on) +=
          std::exp(double(e.value));
    }
    return on > not_on;
  }

  void add(int32_t token, float log_p, TermStep step) {
    step.ends_own = choices_.own >= 0 && !beam_.terms.edges->joins(last_of(h_.tokens), token);
    step.choices = &choices_;
    candidates_.push_back({parent_, token, log_p, h_.total + static_cast<double>(log_p), step});
  }

  void go_on_writing() {
    const auto& forms = beam_.terms.all[static_cast<size_t>(h_.terms.term)].forms;
    add(forms[static_cast<size_t>(h_.terms.form)].tokens[h_.terms.written], choices_.next, {});
  }

  TermStep step_of(const TermChoices::Start& start) const {
    const auto term = static_cast<size_t>(start.term);
    const bool preferred = beam_.terms.all[term].forms[static_cast<size_t>(start.form)].preferred;
    const double attention = std::max(choices_.attention[term], attention_floor);
    return {.begins = start.term,
            .form = start.form,
            .bias = attention_weight * std::log(attention) + (preferred ? 0 : other_form) -
                    passed_weight * h_.terms.states[term].passed_by};
  }

  void add_starts(bool must) {
    const double least = must ? 0 : single_ ? decisive_attention : min_attention;
    const TermChoices::Start* best = nullptr;
    double best_rank = 0;
    for (const TermChoices::Start& start : choices_.starts) {
      if (choices_.attention[static_cast<size_t>(start.term)] < least) continue;
      const TermStep step = step_of(start);
      const double rank = static_cast<double>(start.log_probability) + step.bias;
      if (!single_) add(start.token, start.log_probability, step);
      if (best == nullptr || rank > best_rank) best = &start, best_rank = rank;
    }
    if (single_ && best != nullptr) add(best->token, best->log_probability, step_of(*best));
  }

  const Beam& beam_;
  const int32_t parent_;
  const Hypothesis& h_;
  const TermChoices& choices_;
  const bool single_;
  std::vector<Candidate>& candidates_;
};

}  // namespace

std::vector<Candidate> expand_with_terms(const Beam& beam, std::span<const Element> next,
                                         std::span<const TermChoices> choices, std::span<const int32_t> words,
                                         bool single) {
  std::vector<Candidate> candidates;
  const size_t count = next.size() / beam.open.size();
  for (size_t i = 0; i < beam.open.size(); ++i)
    Expansion(beam, static_cast<int32_t>(i), choices[i], single, candidates)
        .expand(next.subspan(i * count, count), words);
  return candidates;
}

namespace {

const TermProgress& progress_of(const Beam& beam, const Candidate& c) {
  return beam.open[static_cast<size_t>(c.parent)].terms;
}

// With this candidate.
bool has_begun(const Beam& beam, const Candidate& c, size_t term) {
  return progress_of(beam, c).states[term].begun || std::cmp_equal(c.term.begins, term) ||
         (c.term.ends_own && std::cmp_equal(c.term.choices->own, term));
}

int32_t count_begun(const Beam& beam, const Candidate& c) {
  return progress_of(beam, c).begun + (c.term.begins >= 0) + c.term.ends_own;
}

// What a candidate writes of a term: `written` tokens of it with the candidate's own.
struct TermInProgress {
  int32_t term, form;
  size_t written;
};
std::optional<TermInProgress> term_in_progress(const Beam& beam, const Candidate& c) {
  const TermProgress& parent = progress_of(beam, c);
  if (c.term.begins >= 0) return TermInProgress{c.term.begins, c.term.form, 1};
  if (!parent.writing()) return std::nullopt;
  return TermInProgress{parent.term, parent.form, parent.written + 1};
}

// What the tokens of a form have cost the candidate that has most of them.
std::vector<double> token_costs(const Beam& beam, std::span<const Candidate> candidates,
                                const TermInProgress& w) {
  const auto term = static_cast<size_t>(w.term);
  const auto& form = beam.terms.all[term].forms[static_cast<size_t>(w.form)].tokens;
  std::vector<double> costs;
  for (const Candidate& c : candidates) {
    const Hypothesis& h = beam.open[static_cast<size_t>(c.parent)];
    if (!h.terms.states[term].begun) continue;
    size_t begin = h.tokens.size() - h.terms.written, count = h.terms.written + 1;
    if (h.terms.term != w.term || h.terms.form != w.form) {
      const auto found = std::search(h.tokens.begin(), h.tokens.end(), form.begin(), form.end());
      begin = static_cast<size_t>(found - h.tokens.begin());
      count = found != h.tokens.end() ? form.size() : 0;
    }
    if (count <= costs.size()) continue;
    costs.clear();
    for (size_t i = begin; i < begin + count; ++i)
      costs.push_back(-static_cast<double>(i < h.tokens.size() ? h.log_probabilities[i] : c.log_probability));
  }
  return costs;
}

// Estimated cost of the rest of a candidate's term, from another candidate's: candidates that are further into a term
// must not be at a disadvantage.
double rest_of_term(const Beam& beam, std::span<const Candidate> candidates, const Candidate& c) {
  const auto writing = term_in_progress(beam, c);
  if (!writing) return 0;
  const std::vector<double> costs = token_costs(beam, candidates, *writing);
  double rest = 0;
  for (size_t i = writing->written; i < costs.size(); ++i) rest += costs[i];
  return rest;
}

double cost_of(const Beam& beam, const Candidate& c, size_t term) {
  const TermProgress& parent = progress_of(beam, c);
  if (std::cmp_equal(c.term.begins, term)) return -c.term.bias - static_cast<double>(c.log_probability);
  const bool is_written = std::cmp_equal(parent.term, term);
  return parent.states[term].paid - (is_written ? static_cast<double>(c.log_probability) : 0);
}

// For each term the least cost among candidates that have begun it; where there is none, as it was.
void update_costs(Beam& beam, std::span<const Candidate> candidates) {
  for (size_t i = 0; i < beam.term_costs.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& c : candidates) {
      const bool own = c.term.ends_own && std::cmp_equal(c.term.choices->own, i);
      if (!has_begun(beam, c, i) || own) continue;
      const auto writing = term_in_progress(beam, c);
      const bool unfinished = writing && std::cmp_equal(writing->term, i);
      least = std::min(least, cost_of(beam, c, i) + (unfinished ? rest_of_term(beam, candidates, c) : 0));
    }
    if (std::isfinite(least)) beam.term_costs[i] = least;
  }
}

// Those by which a term's place has gone, where others have the term.
void drop_passed_by(const Beam& beam, std::vector<Candidate>& candidates) {
  for (size_t i = 0; i < beam.terms.all.size(); ++i) {
    const auto begun = [&](const Candidate& c) { return has_begun(beam, c, i); };
    if (std::ranges::none_of(candidates, begun)) continue;
    std::erase_if(candidates, [&](const Candidate& c) {
      return !begun(c) && progress_of(beam, c).states[i].passed_by > passed_limit;
    });
  }
}

struct Ranked {
  Candidate candidate;
  double rank;
  int32_t begun;
};

// The best first: totals, with the least that missing terms will cost.
std::vector<Ranked> ranked(const Beam& beam, std::span<const Candidate> candidates) {
  std::vector<Ranked> all;
  for (const Candidate& c : candidates) {
    double rank = c.total + progress_of(beam, c).bias + c.term.bias - rest_of_term(beam, candidates, c);
    for (size_t i = 0; i < beam.term_costs.size(); ++i)
      if (!has_begun(beam, c, i)) rank -= beam.term_costs[i];
    all.push_back({c, rank, count_begun(beam, c)});
  }
  std::ranges::sort(all, {}, [](const Ranked& r) {
    return std::tuple(-r.rank, r.candidate.parent, r.candidate.token, r.candidate.term.begins,
                      r.candidate.term.form);
  });
  return all;
}

// Moves the `width` best to `chosen`: of each number of terms an equal share, then whichever are best.
void choose(std::vector<Ranked>& from, size_t width, std::vector<Candidate>& chosen) {
  std::map<int32_t, size_t> taken;  // of each number
  for (const Ranked& r : from) {
    if (taken.size() < width) taken.emplace(r.begun, 0);
  }
  const size_t share = width / std::max<size_t>(taken.size(), 1);
  std::vector<bool> is_chosen(from.size());
  size_t left = width;
  for (size_t i = 0; i < from.size() && left > 0; ++i) {
    const auto place = taken.find(from[i].begun);
    if (place == taken.end() || place->second == share) continue;
    ++place->second, --left;
    is_chosen[i] = true;
  }
  for (size_t i = 0; i < from.size() && left > 0; ++i) {
    if (!is_chosen[i]) is_chosen[i] = true, --left;
  }
  std::vector<Ranked> rest;
  for (size_t i = 0; i < from.size(); ++i)
    is_chosen[i] ? chosen.push_back(from[i].candidate) : rest.push_back(from[i]);
  from = std::move(rest);
}

}  // namespace

void prune_with_terms(Beam& beam, std::vector<Candidate>& candidates, const SearchOptions& options) {
  update_costs(beam, candidates);
  drop_passed_by(beam, candidates);
  std::vector<Ranked> from = ranked(beam, candidates);
  candidates.clear();
  const int64_t taken = ending_of(options) == BeamEnding::narrowing ? std::ssize(beam.finished) : 0;
  const auto width = static_cast<size_t>(beam_width(options) - taken),
             all = static_cast<size_t>(candidate_count(options) - taken);
  for (size_t chosen = 0; width > 0 && chosen < all; chosen += width) choose(from, width, candidates);
}

}  // namespace dragoman::internal
