// The figures of label smoothing, by the kernel of the loss.
#include <cmath>

#include <fmt/format.h>

#include "kernels/context.h"
#include "kernels/kernels.h"
#include "report/figures.h"

namespace dragoman::internal {
namespace {

template <class Figure>
void declare_words_and_smoothing(Section& own, Figure& figure, double most_words) {
  own.add("words", figure.words, "size of the vocabulary", at_least(2).at_most(most_words));
  own.add("smoothing", figure.smoothing, "probability moved from the correct word to others",
          at_least(0).below(1));
}

struct Losses {
  float smoothed, likelihood;
};

// Of one prediction, on the CPU: its memory is the host's. Overwrites the logits with their gradient: the predicted
// distribution minus the smoothed target.
Losses losses_of(std::vector<float>& logits, int32_t correct_word, Smoothing smoothing) {
  static const Kernels& kernels = chosen_kernels();
  CpuContext context(1);
  const auto words = static_cast<int64_t>(logits.size());
  float losses[2];
  kernels.cross_entropy(context, {logits.data(), 1, words, words}, &correct_word, smoothing, true, losses);
  return {losses[0], losses[1]};
}

// A row for each correct word. Equal logits predict 1/V for each word, so the gradient reveals the target.
HeatMap smoothed_targets(const std::string& title, const SmoothedTargets& options, SmoothingOver over) {
  const int64_t words = options.words, padding = options.padding ? 1 : 0;
  HeatMap map = {.title = title, .rows = padding + words, .columns = padding + words, .values = {}};
  map.values.resize(static_cast<size_t>(map.rows * map.columns));
  for (int64_t correct_word = 0; correct_word < words; ++correct_word) {
    std::vector<float> row(static_cast<size_t>(words));
    losses_of(row, static_cast<int32_t>(correct_word), {static_cast<float>(options.smoothing), over});
    double* const values = &map.values[static_cast<size_t>((padding + correct_word) * map.columns + padding)];
    for (int64_t word = 0; word < words; ++word)
      values[word] = 1 / static_cast<double>(words) - double{row[static_cast<size_t>(word)]};
  }
  return map;
}

// The logit of the correct word at each point, if those of the others are 0.
std::vector<double> logits_of_correct_word(const SmoothedLosses& options) {
  std::vector<double> logits;
  if (options.x == LossAxis::weight) {
    for (int weight = 1; weight <= 100; ++weight) logits.push_back(std::log(weight));
    return logits;
  }
  constexpr double surest = 0.999;
  const double highest = std::log(surest / (1 - surest) * static_cast<double>(options.words - 1));
  constexpr int points = 200;
  for (int i = 0; i <= points; ++i) logits.push_back(highest * i / points);
  return logits;
}

ChartCurve loss_curve(const std::string& name, const SmoothedLosses& options, Smoothing smoothing) {
  ChartCurve curve = {.name = name, .points = {}};
  for (const double logit : logits_of_correct_word(options)) {
    std::vector<float> logits(static_cast<size_t>(options.words));
    logits[0] = static_cast<float>(logit);
    const Losses losses = losses_of(logits, 0, smoothing);
    const double x = options.x == LossAxis::weight ? std::exp(logit) : std::exp(-double{losses.likelihood});
    curve.points.push_back({x, double{losses.smoothed}});
  }
  return curve;
}

}  // namespace

void declare(Section& own, SmoothedTargets& options) {
  declare_words_and_smoothing(own, options, 100);
  own.add("padding", options.padding,
          "a row and a column 0 for a padding symbol, which is never correct and gets nothing");
}

HeatMaps chart(const SmoothedTargets& options) {
  return {.title = fmt::format("Targets with label smoothing {}", options.smoothing),
          .x_title = "word",
          .y_title = "correct word",
          .min = 0,
          .max = 1,
          .maps = {smoothed_targets("over all words", options, SmoothingOver::all),
                   smoothed_targets("over the other words", options, SmoothingOver::others)}};
}

void declare(Section& own, SmoothedLosses& options) {
  declare_words_and_smoothing(own, options, 100'000);
  own.add(
      "x", options.x,
      "what the loss is drawn against: the correct word's probability, or its weight from 1 to 100, where "
      "each other word has 1 and a word's share of all weights is its probability",
      {{"probability", LossAxis::probability}, {"weight", LossAxis::weight}});
}

LineChart chart(const SmoothedLosses& options) {
  const auto amount = static_cast<float>(options.smoothing);
  return {.title = fmt::format("Loss of one word, vocabulary of {}", options.words),
          .x_title = options.x == LossAxis::weight ? "weight of the correct word, where the others have 1"
                                                   : "predicted probability of the correct word",
          .y_title = "cross-entropy with the smoothed target",
          .curves = {loss_curve("no smoothing", options, {0, SmoothingOver::all}),
                     loss_curve(fmt::format("{} over all words", options.smoothing), options,
                                {amount, SmoothingOver::all}),
                     loss_curve(fmt::format("{} over the other words", options.smoothing), options,
                                {amount, SmoothingOver::others})}};
}

}  // namespace dragoman::internal
