#include "metrics/reranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double weighted_sum(const ListedCandidate& candidate, std::span<const double> weights) {
  return std::inner_product(weights.begin(), weights.end(), candidate.features.begin(), 0.0);
}

// From `at` on, until the next change, a candidate is the best of its sentence.
struct BestFrom {
  double at;
  size_t candidate;
};

// The sum of a candidate as a function of one weight.
struct Line {
  double slope, offset;
  size_t candidate;
};

// Which of the lines is the highest, from left to right.
std::vector<BestFrom> upper_envelope(std::vector<Line> lines) {
  std::ranges::stable_sort(lines, [](const Line& a, const Line& b) {
    return a.slope != b.slope ? a.slope < b.slope : a.offset > b.offset;
  });
  std::vector<BestFrom> envelope;
  std::vector<Line> on_top;
  for (const Line& line : lines) {
    if (!on_top.empty() && on_top.back().slope == line.slope) continue;  // below it everywhere
    double at = -infinity;
    while (!on_top.empty()) {
      at = (on_top.back().offset - line.offset) / (line.slope - on_top.back().slope);
      if (at > envelope.back().at) break;
      on_top.pop_back();
      envelope.pop_back();
      at = -infinity;
    }
    on_top.push_back(line);
    envelope.push_back({at, line.candidate});
  }
  return envelope;
}

void subtract(BleuStatistics& sums, const BleuStatistics& other) {
  sums.hypothesis_length -= other.hypothesis_length;
  sums.reference_length -= other.reference_length;
  for (size_t n = 0; n < sums.matches.size(); ++n) {
    sums.matches[n] -= other.matches[n];
    sums.ngrams[n] -= other.ngrams[n];
  }
}

// Somewhere between two changes, near zero where there is no end.
double inside(double begin, double end) {
  if (begin == -infinity && end == infinity) return 0;
  if (begin == -infinity) return std::min(end - 1, 0.0);
  if (end == infinity) return std::max(begin + 1, 0.0);
  return (begin + end) / 2;
}

struct Change {
  double at;
  const BleuStatistics *before, *after;
};

struct Found {
  double weight = 0, bleu = 0;
};

// The best value of one weight, the others as they are.
Found search_line(std::span<const std::vector<ListedCandidate>> sentences, std::span<const double> weights,
                  size_t which) {
  BleuStatistics sums;
  std::vector<Change> changes;
  for (const std::vector<ListedCandidate>& candidates : sentences) {
    std::vector<Line> lines;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double slope = candidates[i].features[which];
      lines.push_back({slope, weighted_sum(candidates[i], weights) - weights[which] * slope, i});
    }
    const std::vector<BestFrom> envelope = upper_envelope(std::move(lines));
    sums += candidates[envelope[0].candidate].statistics;
    for (size_t i = 1; i < envelope.size(); ++i)
      changes.push_back({envelope[i].at, &candidates[envelope[i - 1].candidate].statistics,
                         &candidates[envelope[i].candidate].statistics});
  }
  std::ranges::stable_sort(changes, {}, &Change::at);
  Found best = {inside(-infinity, changes.empty() ? infinity : changes[0].at), bleu_score(sums).score};
  for (size_t i = 0; i < changes.size(); ++i) {
    subtract(sums, *changes[i].before);
    sums += *changes[i].after;
    const double end = i + 1 < changes.size() ? changes[i + 1].at : infinity;
    if (end == changes[i].at) continue;
    const double bleu = bleu_score(sums).score;
    if (bleu > best.bleu) best = {inside(changes[i].at, end), bleu};
  }
  return best;
}

}  // namespace

size_t best_candidate(std::span<const ListedCandidate> candidates, std::span<const double> weights) {
  CHECK(!candidates.empty());
  size_t best = 0;
  double largest = -infinity;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const double sum = weighted_sum(candidates[i], weights);
    if (sum > largest) {
      largest = sum;
      best = i;
    }
  }
  return best;
}

double bleu_of_best(std::span<const std::vector<ListedCandidate>> sentences,
                    std::span<const double> weights) {
  BleuStatistics sums;
  for (const std::vector<ListedCandidate>& candidates : sentences)
    sums += candidates[best_candidate(candidates, weights)].statistics;
  return bleu_score(sums).score;
}

std::vector<double> tuned_weights(std::span<const std::vector<ListedCandidate>> sentences) {
  constexpr int beginnings = 8, most_rounds = 20;
  CHECK(!sentences.empty() && !sentences[0].empty());
  const size_t count = sentences[0][0].features.size();
  std::vector<double> best(count, 0);
  best[0] = 1;
  double best_bleu = bleu_of_best(sentences, best);
  Random random(1);
  for (int beginning = 0; beginning < beginnings; ++beginning) {
    std::vector<double> weights(count, 0);
    weights[0] = 1;
    for (size_t i = 1; i < count && beginning > 0; ++i) weights[i] = random.uniform(0, 1);
    double bleu = bleu_of_best(sentences, weights), before = -1;
    for (int round = 0; round < most_rounds && bleu > before; ++round) {
      before = bleu;
      for (size_t i = 1; i < count; ++i) {
        const Found found = search_line(sentences, weights, i);
        if (found.bleu <= bleu) continue;
        weights[i] = found.weight;
        bleu = found.bleu;
      }
    }
    if (bleu > best_bleu) {
      best_bleu = bleu;
      best = weights;
    }
  }
  return best;
}

}  // namespace dragoman::internal
