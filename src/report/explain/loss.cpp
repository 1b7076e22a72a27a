// Cross-entropy with label smoothing, as training computes it, but without dropout.
#include <cmath>

#include <fmt/format.h>

#include "report/explain/predictions.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// The smoothed target's probabilities: of the right word, and of each other one.
struct SmoothedWord {
  double right, other;
};

SmoothedWord smoothed_word(const Smoothing& smoothing, int64_t vocabulary) {
  const auto epsilon = static_cast<double>(smoothing.amount), v = static_cast<double>(vocabulary);
  if (smoothing.over == SmoothingOver::all) return {1 - epsilon + epsilon / v, epsilon / v};
  return {1 - epsilon, vocabulary > 1 ? epsilon / (v - 1) : 0};
}

const char* smoothing_formula(SmoothingOver over) {
  return over == SmoothingOver::all ? "q = ε/V for each word, and 1 − ε more for the right one"
                                    : "q = 1 − ε for the right word, and ε/(V − 1) for each other one";
}

// The target's distribution at a position, and what it makes of the log-probabilities: the terms of the loss there.
StepSection smoothing_section(const TracedPair& t, const Smoothing& smoothing, const Predictions& p) {
  const auto at = static_cast<int64_t>(t.pair.given);
  const int64_t words = p.logits.columns, right = t.pair.expected[t.pair.given];
  const auto [of_right, of_other] = smoothed_word(smoothing, words);
  const double log_p = p.log_probability(at, right);
  double others = -log_p;
  for (int64_t word = 0; word < words; ++word) others += p.log_probability(at, word);
  const std::string& label = t.expected_labels[t.pair.given];
  StepSection section = {.name = "smoothing",
                         .title = fmt::format("Label smoothing: ε = {:g}, V = {}, after {}", smoothing.amount,
                                              words, t.read_labels[t.pair.given])};
  section.tables.push_back(
      {.name = "target",
       .formula = fmt::format("{}; loss = −Σ q·log p", smoothing_formula(smoothing.over)),
       .rows = {label, "the others", "sum"},
       .columns = {"words", "q of each", "Σ q", "Σ log p", "−q·Σ log p"},
       .cells = {{int64_t{1}, of_right, of_right, log_p, -of_right * log_p},
                 {words - 1, of_other, of_other * static_cast<double>(words - 1), others, -of_other * others},
                 {words, Nothing(), of_right + of_other * static_cast<double>(words - 1), log_p + others,
                  -of_right * log_p - of_other * others}},
       .digits = 6});
  return section;
}

Tensor losses_of(const TracedPair& t, const Smoothing& smoothing) {
  Pass pass{.device = t.model.device};
  const Array<int32_t> targets(t.model.device.pool, t.pair.expected);
  return cross_entropy(pass, t.decoded, t.model.generator.weight, t.model.generator.bias, targets, smoothing);
}

StepSection token_section(const TracedPair& t, const Smoothing& smoothing) {
  const HostMatrix losses = on_host(losses_of(t, smoothing));
  Table tokens = {.name = "tokens",
                  .formula = "of each token, and their sum and mean",
                  .rows = {},
                  .columns = {"−log p", "smoothed loss"},
                  .cells = {},
                  .digits = 6};
  double plain = 0, smoothed = 0;
  for (size_t i = t.pair.given; i < t.expected_labels.size(); ++i) {
    const auto row = losses.row(static_cast<int64_t>(i));
    const auto of_smoothed = static_cast<double>(row[0]), of_plain = static_cast<double>(row[1]);
    tokens.rows.push_back(t.expected_labels[i]);
    tokens.cells.push_back({of_plain, of_smoothed});
    plain += of_plain;
    smoothed += of_smoothed;
  }
  const auto count = static_cast<double>(tokens.rows.size());
  Table totals = {
      .name = "totals",
      .formula = "perplexity = e^mean",
      .rows = {"sum", "mean", "perplexity"},
      .columns = tokens.columns,
      .cells = {{plain, smoothed}, {plain / count, smoothed / count}, {std::exp(plain / count), Nothing()}},
      .digits = 6};
  return {.name = "sentence",
          .title = "The loss of the sentence, without dropout",
          .tables = {std::move(tokens), std::move(totals)}};
}

}  // namespace

Step explain_loss(const TracedPair& t, const ExplainOptions& options) {
  return {.name = "loss",
          .sections = {smoothing_section(t, options.smoothing, predictions(t)),
                       token_section(t, options.smoothing)}};
}

}  // namespace dragoman::internal
