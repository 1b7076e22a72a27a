#include "data/align/aligner.h"

#include <cmath>
#include <utility>

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

// Every stride-th pair.
PairsToAlign sample_of(const PairsToAlign& pairs, size_t max_pairs) {
  const size_t stride = std::max<size_t>(1, (pairs.count + max_pairs - 1) / std::max<size_t>(1, max_pairs));
  PairsToAlign sample = pairs;
  sample.count = (pairs.count + stride - 1) / stride;
  sample.read = [&pairs, stride](size_t pair, Ids& source, Ids& target) {
    pairs.read(pair * stride, source, target);
  };
  return sample;
}

PairsToAlign reversed(const PairsToAlign& pairs) {
  PairsToAlign other = pairs;
  std::swap(other.source_words, other.target_words);
  other.read = [&pairs](size_t pair, Ids& source, Ids& target) { pairs.read(pair, target, source); };
  return other;
}

// Short jumps, ahead rather than back.
Jumps first_jumps() {
  Jumps jumps;
  for (int64_t distance = -Jumps::longest; distance <= Jumps::longest; ++distance)
    jumps[distance] = 1.0F / static_cast<float>(1 + std::abs(distance - 1));
  return jumps;
}

// One direction, with what its tasks expect of the jumps.
struct Direction {
  HiddenMarkovModel& model;
  std::vector<Jumps> expected;

  // The sums of the tasks, in their order, smoothed.
  void end_round(ThreadPool& threads) {
    model.table.end_round(threads);
    if (expected.empty()) return;
    std::vector<double> sums(model.jumps.values.size());
    double all = 0;
    for (const Jumps& jumps : expected) {
      for (size_t i = 0; i < sums.size(); ++i) {
        sums[i] += jumps.values[i];
        all += jumps.values[i];
      }
    }
    for (size_t i = 0; i < sums.size(); ++i)
      model.jumps.values[i] = static_cast<float>((sums[i] + 1) / (all + static_cast<double>(sums.size())));
  }
};

// Both directions' posteriors of one pair.
struct TwoPosteriors {
  PairPosteriors forward, backward;

  void find(const HiddenMarkovModel& one, const HiddenMarkovModel& other, std::span<const int32_t> source,
            std::span<const int32_t> target) {
    forward.find(one.table, source, target);
    backward.find(other.table, target, source);
  }

  void count(TranslationTable& one, TranslationTable& other) const {
    count_agreed(forward, backward, one);
    count_agreed(backward, forward, other);
  }

 private:
  // Each word counts once: for a link as much as both directions expect it, and for the null word as much as neither
  // expects a link. Products of uncertain links are small; without the factor the null word would take what they lack,
  // and keep the rare words of a small corpus.
  static void count_agreed(const PairPosteriors& own, const PairPosteriors& other, TranslationTable& table) {
    const auto &p = own.posteriors(), &q = other.posteriors();
    for (size_t j = 0; j < p.targets; ++j) {
      const auto row = p.row(j);
      const auto places = own.places().row(j);
      double unlinked = row[p.sources], linked = 0;
      for (size_t i = 0; i < p.sources; ++i) {
        unlinked *= 1 - q.row(i)[j];
        linked += static_cast<double>(row[i]) * q.row(i)[j];
      }
      const double factor = 1 / std::max(1e-9, unlinked + linked);
      for (size_t i = 0; i < p.sources; ++i) table.add_count(places[i], factor * row[i] * q.row(i)[j]);
      table.add_count(places[p.sources], factor * unlinked);
    }
  }
};

void learn_round(const PairsToAlign& pairs, Direction& forward, Direction& backward, bool with_jumps,
                 ThreadPool& threads) {
  const size_t tasks = tasks_of(pairs);
  if (with_jumps) {
    forward.expected.assign(tasks, {});
    backward.expected.assign(tasks, {});
  }
  for_each_pair(pairs, threads, [&](size_t task, const Ids& source, const Ids& target) {
    thread_local TwoPosteriors both;
    both.find(forward.model, backward.model, source, target);
    if (with_jumps) {
      both.forward.with_jumps(forward.model.jumps, &forward.expected[task]);
      both.backward.with_jumps(backward.model.jumps, &backward.expected[task]);
    } else {
      both.forward.without_jumps();
      both.backward.without_jumps();
    }
    both.count(forward.model.table, backward.model.table);
  });
  forward.end_round(threads);
  backward.end_round(threads);
}

// For each target word the most probable source word, unless that is the null word.
std::vector<Link> best_links(const WordMatrix<float>& posteriors) {
  std::vector<Link> links;
  for (size_t j = 0; j < posteriors.targets; ++j) {
    const auto row = posteriors.row(j);
    const auto best = static_cast<size_t>(std::ranges::max_element(row) - row.begin());
    if (best < posteriors.sources) links.push_back({static_cast<int32_t>(best), static_cast<int32_t>(j)});
  }
  return links;
}

}  // namespace

std::vector<Link> AlignmentModel::links(std::span<const int32_t> source, std::span<const int32_t> target,
                                        Symmetrization symmetrization) const {
  if (source.empty() || target.empty() || std::max(source.size(), target.size()) > max_aligned_length)
    return {};
  TwoPosteriors both;
  both.find(forward_, backward_, source, target);
  both.forward.with_jumps(forward_.jumps, nullptr);
  both.backward.with_jumps(backward_.jumps, nullptr);
  const std::vector<Link> forward = best_links(both.forward.posteriors());
  std::vector<Link> backward = best_links(both.backward.posteriors());
  for (Link& link : backward) std::swap(link.source, link.target);
  return symmetrized(forward, backward, source.size(), target.size(), symmetrization);
}

AlignmentModel learn_alignment(const PairsToAlign& pairs, const AlignmentOptions& options) {
  ThreadPool threads(options.threads);
  const PairsToAlign sample = sample_of(pairs, options.max_pairs);
  AlignmentModel model;
  model.sampled_pairs_ = sample.count;
  model.forward_ = {TranslationTable(sample, options.max_entries / 2, threads), first_jumps()};
  model.backward_ = {TranslationTable(reversed(sample), options.max_entries / 2, threads), first_jumps()};
  Direction forward{model.forward_, {}}, backward{model.backward_, {}};
  for (int round = 0; round < options.model1_rounds; ++round)
    learn_round(sample, forward, backward, false, threads);
  for (int round = 0; round < options.markov_rounds; ++round)
    learn_round(sample, forward, backward, true, threads);
  model.forward_.table.finish();
  model.backward_.table.finish();
  return model;
}

}  // namespace dragoman::internal
