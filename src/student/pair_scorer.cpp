#include "student/pair_scorer.h"

#include <cmath>
#include <numeric>

#include "student/model_languages.h"

namespace dragoman::internal {
namespace {

double mean_log_probability(const std::vector<float>& values) {
  if (values.empty()) return std::nan("");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

PairScorer pair_scorer_of(dragoman::Translator& model, bool backward, const std::string& from,
                          const std::string& to) {
  const ScoreSettings settings = backward ? score_settings(model, to, from) : score_settings(model, from, to);
  return [&model, backward, settings](std::span<const TextPair> texts) {
    std::vector<dragoman::TextPair> pairs;
    for (const TextPair& text : texts)
      pairs.push_back(backward ? dragoman::TextPair{text.target, text.source}
                               : dragoman::TextPair{text.source, text.target});
    std::vector<double> means;
    for (const Score& score : model.score(pairs, settings))
      means.push_back(mean_log_probability(score.log_probabilities));
    return means;
  };
}

}  // namespace dragoman::internal
