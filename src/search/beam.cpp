#include "search/beam.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// `length`: of the output and its end mark.
double score_of(double total, int64_t length, const Beam& beam, const SearchOptions& options) {
  return total / length_divisor(options, beam.forced + length);
}

int64_t most_finished(const SearchOptions& options) {
  return ends_separately(options) ? options.beam : options.nbest;
}

// Keeps it if it is among the best. Of equal samples one is kept.
void keep(Hypothesis hypothesis, Beam& beam, const SearchOptions& options) {
  hypothesis.rows.clear();
  hypothesis.score = score_so_far(hypothesis, beam, options);
  auto& finished = beam.finished;
  const auto same = [&](const Hypothesis& other) { return other.tokens == hypothesis.tokens; };
  if (std::ranges::any_of(finished, same)) return;
  const auto place = std::ranges::upper_bound(finished, hypothesis.score, std::greater{}, &Hypothesis::score);
  finished.insert(place, std::move(hypothesis));
  if (std::ssize(finished) > most_finished(options)) finished.pop_back();
}

Hypothesis child_of(const Hypothesis& parent, const Candidate& candidate, int32_t end) {
  Hypothesis child = parent;
  child.log_probabilities.push_back(candidate.log_probability);
  child.total = candidate.total;
  if (candidate.token != end) child.tokens.push_back(candidate.token);
  return child;
}

// It had to end here, which the model found less likely than going on.
bool is_cut(const Hypothesis& ended, const Beam& beam) {
  return static_cast<int64_t>(ended.tokens.size()) == beam.max_length &&
         ended.log_probabilities.back() < std::log(0.5F);
}

// Whether the search of a beam that has finished enough is over, which ends separately.
bool is_over(const Beam& beam, const SearchOptions& options) {
  if (options.beam_ending == BeamEnding::early) return true;
  const Hypothesis& best = beam.open.front();
  return score_of(best.total, std::ssize(best.tokens), beam, options) <= beam.finished.back().score;
}

// Those open ones that the search does not go on with.
void drop_losers(Beam& beam, const SearchOptions& options) {
  if (beam.open.empty() || std::ssize(beam.finished) < most_finished(options)) return;
  if (ends_separately(options)) {
    if (is_over(beam, options)) beam.open.clear();
    return;
  }
  const double worst = beam.finished.back().score;
  std::erase_if(beam.open,
                [&](const Hypothesis& h) { return best_possible_score(h, beam, options) <= worst; });
}

}  // namespace

// Log-probabilities are at most 0 and the divisor grows: no total gets better than by staying as it is until the output
// has its maximum length.
double best_possible_score(const Hypothesis& open, const Beam& beam, const SearchOptions& options) {
  return score_of(open.total, beam.max_length + (beam.end >= 0 ? 1 : 0), beam, options);
}

double score_so_far(const Hypothesis& hypothesis, const Beam& beam, const SearchOptions& options) {
  return score_of(hypothesis.total, std::ssize(hypothesis.log_probabilities), beam, options);
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
    if (std::ranges::find(beam.never, token) != beam.never.end()) continue;
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
  const bool separate = ends_separately(options);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const Hypothesis& parent = parents[static_cast<size_t>(candidate.parent)];
    const bool full = std::ssize(parent.tokens) + 1 == beam.max_length;
    const bool ends = candidate.token == beam.end || (beam.end < 0 && full);
    // Of those that end, the better half counts alone.
    const bool too_many =
        ends ? std::cmp_greater_equal(i, options.beam) : std::ssize(beam.open) == options.beam;
    if (separate && too_many) continue;
    Hypothesis child = child_of(parent, candidate, beam.end);
    child.cut = candidate.token == beam.end && is_cut(child, beam);
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
  drop_losers(beam, options);
  if (beam.open.empty() && std::ssize(beam.finished) > options.nbest)
    beam.finished.resize(static_cast<size_t>(options.nbest));
}

void reorder(const Beam& beam, std::span<const int32_t> before, CacheRows& rows) {
  for (const Hypothesis& h : beam.open) rows.share(h.rows);
  rows.release(before);
}

}  // namespace dragoman::internal
