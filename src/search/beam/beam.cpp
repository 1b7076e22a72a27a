#include "search/beam/beam.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// `length`: of the output and its end mark. The cost of terms is large and independent of the output's length:
// dividing it by that length would favour long outputs.
double score_of(const Hypothesis& h, int64_t length, const Beam& beam, const SearchOptions& options) {
  const double score = (h.total + h.terms.cost) / length_divisor(options, beam.forced_length + length);
  return h.terms.cost == 0 ? score : score - h.terms.cost / length_divisor(options, beam.source_length);
}

int64_t max_finished(const SearchOptions& options) {
  const bool all = ends_separately(options) || ending_of(options) == BeamEnding::narrowing;
  return all ? options.beam : options.nbest;
}

// By which finished ones are ordered, the best first: those that have their terms before others.
auto order_of(const Hypothesis& finished) { return std::tuple(finished.terms.missed(), -finished.score); }

// Keeps it if it is among the best. Of equal samples one is kept.
void keep(Hypothesis hypothesis, Beam& beam, const SearchOptions& options) {
  hypothesis.rows.clear();
  hypothesis.score = score_so_far(hypothesis, beam, options);
  auto& finished = beam.finished;
  if (ending_of(options) == BeamEnding::first && std::ssize(finished) == options.beam) return;
  const auto same = [&](const Hypothesis& other) { return other.tokens == hypothesis.tokens; };
  if (std::ranges::any_of(finished, same)) return;
  const auto place = std::ranges::upper_bound(finished, order_of(hypothesis), {}, order_of);
  finished.insert(place, std::move(hypothesis));
  if (std::ssize(finished) > max_finished(options)) finished.pop_back();
}

Hypothesis child_of(const Hypothesis& parent, const Candidate& candidate, const Beam& beam) {
  Hypothesis child = parent;
  child.log_probabilities.push_back(candidate.log_probability);
  child.total = candidate.total;
  if (candidate.token != beam.end) child.tokens.push_back(candidate.token);
  if (!beam.terms.all.empty()) follow(beam.terms, candidate.term, child.log_probabilities, child.terms);
  return child;
}

// Cut off at the maximum length: the model preferred to continue, or had no choice.
bool is_cut(const Hypothesis& ended, const Beam& beam, const SearchOptions& options) {
  return static_cast<int64_t>(ended.tokens.size()) == beam.max_length &&
         (options.forced_end || ended.log_probabilities.back() < std::log(0.5F));
}

// Those open ones that cannot become better than the worst of enough finished ones.
void drop_hopeless(Beam& beam, const SearchOptions& options) {
  const Hypothesis& worst = beam.finished.back();
  // One with more terms is better whatever its score.
  if (worst.terms.missed() > beam.terms.count_without_forms()) return;
  std::erase_if(beam.open, [&](const Hypothesis& h) {
    const double to_come =
        missing_cost(h.terms, beam.term_costs) / length_divisor(options, beam.source_length);
    return best_possible_score(h, beam, options) - to_come <= worst.score;
  });
}

// Those open ones that the search does not go on with. `top_ended`: whether the best candidate of this step did.
void drop_losers(Beam& beam, bool top_ended, const SearchOptions& options) {
  if (beam.open.empty() || std::ssize(beam.finished) < max_finished(options)) return;
  const Hypothesis &worst = beam.finished.back(), &best = beam.open.front();
  bool over = true;
  switch (ending_of(options)) {
    case BeamEnding::shared:
      drop_hopeless(beam, options);
      return;
    case BeamEnding::top:
      over = top_ended;
      break;
    case BeamEnding::separate:
      over = score_of(best, std::ssize(best.tokens), beam, options) <= worst.score;
      break;
    case BeamEnding::narrowing:
    case BeamEnding::early:
    case BeamEnding::first:
      break;
  }
  if (over) beam.open.clear();
}

}  // namespace

// Log-probabilities are at most 0 and the divisor grows: no total gets better than by staying as it is until the output
// has its maximum length.
double best_possible_score(const Hypothesis& open, const Beam& beam, const SearchOptions& options) {
  return score_of(open, beam.max_length + (beam.end >= 0 ? 1 : 0), beam, options);
}

double score_so_far(const Hypothesis& hypothesis, const Beam& beam, const SearchOptions& options) {
  return score_of(hypothesis, std::ssize(hypothesis.log_probabilities), beam, options);
}

std::vector<Candidate> expand(const Beam& beam, std::span<const Element> next,
                              std::span<const int32_t> words) {
  std::vector<Candidate> candidates;
  const size_t count = next.size() / beam.open.size();
  for (size_t i = 0; i < next.size(); ++i) {
    const auto [column, log_p] = next[i];
    if (column < 0) continue;
    const auto parent = static_cast<int32_t>(i / count);
    const int32_t token = words.empty() ? column : words[static_cast<size_t>(column)];
    if (std::ranges::find(beam.suppressed, token) != beam.suppressed.end()) continue;
    const double total = beam.open[static_cast<size_t>(parent)].total + static_cast<double>(log_p);
    candidates.push_back({parent, token, log_p, total});
  }
  return candidates;
}

void prune(std::vector<Candidate>& candidates, int64_t width) {
  const auto kept = std::min(candidates.size(), static_cast<size_t>(width));
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(kept);
  std::ranges::partial_sort(candidates, end, {},
                            [](const Candidate& c) { return std::tuple(-c.total, c.parent, c.token); });
  candidates.erase(end, candidates.end());
}

void finish(Beam& beam, const std::vector<Candidate>& candidates, const SearchOptions& options) {
  std::vector<Hypothesis> parents;
  parents.swap(beam.open);
  const bool separate = ends_separately(options), narrowing = ending_of(options) == BeamEnding::narrowing;
  const int64_t places = beam_width(options) - (narrowing ? std::ssize(beam.finished) : 0);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const Hypothesis& parent = parents[static_cast<size_t>(candidate.parent)];
    const bool full = std::ssize(parent.tokens) + 1 == beam.max_length;
    const bool ends = candidate.token == beam.end || (beam.end < 0 && full);
    // Of those that end separately, only the better half counts.
    const bool too_many =
        separate && !ends ? std::ssize(beam.open) == places : std::cmp_greater_equal(i, places);
    if (too_many) continue;
    Hypothesis child = child_of(parent, candidate, beam);
    child.cut = candidate.token == beam.end && is_cut(child, beam, options);
    if (ends) {
      keep(std::move(child), beam, options);
    } else {
      beam.open.push_back(std::move(child));
    }
  }
  if (candidates.empty()) {
    for (Hypothesis& parent : parents) {
      parent.cut = true;
      keep(std::move(parent), beam, options);
    }
  }
  drop_losers(beam, !candidates.empty() && candidates.front().token == beam.end, options);
  if (beam.open.empty() && std::ssize(beam.finished) > options.nbest)
    beam.finished.resize(static_cast<size_t>(options.nbest));
}

void reorder(const Beam& beam, std::span<const int32_t> before, CacheRows& rows) {
  for (const Hypothesis& h : beam.open) rows.share(h.rows);
  rows.release(before);
}

}  // namespace dragoman::internal
