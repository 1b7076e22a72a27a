// From the decoder's output to words.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "report/explain/predictions.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

constexpr int64_t best_words = 5;

std::vector<int32_t> best_of(std::span<const float> logits) {
  std::vector<int32_t> words(logits.size());
  std::iota(words.begin(), words.end(), 0);
  const auto count = std::min<int64_t>(best_words, std::ssize(words));
  std::ranges::partial_sort(words, words.begin() + count, std::greater(),
                            [&](int32_t word) { return logits[static_cast<size_t>(word)]; });
  words.resize(static_cast<size_t>(count));
  return words;
}

Table expected_table(const TracedPair& t, const Predictions& p) {
  Table table = {.name = "expected",
                 .formula = "of the expected word: log p = logit − log Σ e^logit",
                 .rows = t.read_labels,
                 .columns = {"expected", "logit", "log Σ e^logit", "log p", "p", "rank"},
                 .cells = {}};
  for (int64_t r = 0; r < p.logits.rows; ++r) {
    const auto i = static_cast<size_t>(r);
    const int32_t word = t.pair.expected[i];
    const auto row = p.logits.row(r);
    const float logit = row[static_cast<size_t>(word)];
    const double log_p = p.log_probability(r, word);
    const auto better = std::ranges::count_if(row, [&](float other) { return other > logit; });
    table.cells.push_back({t.expected_labels[i], static_cast<double>(logit), p.log_sums[i], log_p,
                           std::exp(log_p), int64_t{better + 1}});
  }
  return table;
}

Table best_table(const TracedPair& t, const Predictions& p) {
  Table table = {.name = "best",
                 .formula = "the most probable words; p = e^(log p)",
                 .rows = t.read_labels,
                 .columns = {},
                 .cells = {}};
  for (int64_t r = 0; r < p.logits.rows; ++r) {
    std::vector<Cell>& row = table.cells.emplace_back();
    for (const int32_t word : best_of(p.logits.row(r)))
      row.insert(row.end(), {t.pair.target_piece(word), std::exp(p.log_probability(r, word))});
  }
  for (size_t i = 0; i < table.cells.front().size() / 2; ++i)
    table.columns.insert(table.columns.end(), {fmt::format("{}.", i + 1), "p"});
  return table;
}

}  // namespace

Step explain_output(const TracedPair& t, const ExplainOptions&) {
  const Predictions p = predictions(t);
  StepSection decoded = {.name = "decoder", .title = "After the decoder"};
  decoded.tables.push_back(
      vectors("decoded", "h, the decoder's output for each token that it reads", t.read_labels, t.decoded));
  const Linear& generator = t.model.generator;
  const bool tied = !has_own_generator(t.model.config);
  StepSection words = {
      .name = "words",
      .title = fmt::format("Probabilities of {} words: each row predicts the next", p.logits.columns)};
  words.tables.push_back(
      vectors("logits",
              fmt::format("h·Wᵀ{}, {}{}", generator.bias ? " + b" : "", t.name_of(generator.weight),
                          tied ? ", the embedding itself" : ""),
              t.read_labels, p.logits));
  words.tables.push_back(expected_table(t, p));
  words.tables.push_back(best_table(t, p));
  return {.name = "output", .sections = {std::move(decoded), std::move(words)}};
}

}  // namespace dragoman::internal
