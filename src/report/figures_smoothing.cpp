// Label smoothing, as the kernel of the loss has it.
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "kernels/kernels.h"
#include "report/figures.h"

namespace dragoman {
namespace {

struct Losses {
  float smoothed, likelihood;
};

// Of one prediction. The logits become their gradient: the predicted distribution less the smoothed target.
Losses losses_of(std::vector<float>& logits, int32_t right_word, Smoothing smoothing) {
  static const Kernels& kernels = kernels_for(std::getenv("DRAGOMAN_ISA"));
  CpuContext context(1);
  const auto words = static_cast<int64_t>(logits.size());
  float losses[2];
  kernels.cross_entropy(context, {logits.data(), 1, words, words}, &right_word, smoothing, true, losses);
  return {losses[0], losses[1]};
}

// A row for each right word. Equal logits predict 1/V of each word, so that the gradient tells the target.
HeatMap targets(const std::string& title, int64_t words, Smoothing smoothing) {
  HeatMap map = {.title = title, .rows = words, .columns = words, .values = {}};
  for (int64_t right_word = 0; right_word < words; ++right_word) {
    std::vector<float> row(static_cast<size_t>(words));
    losses_of(row, static_cast<int32_t>(right_word), smoothing);
    for (const float gradient : row) map.values.push_back(1 / static_cast<double>(words) - double{gradient});
  }
  return map;
}

ChartCurve loss_curve(const std::string& name, int64_t words, Smoothing smoothing) {
  ChartCurve curve = {.name = name, .points = {}};
  constexpr double surest = 0.999;
  const double highest_logit = std::log(surest / (1 - surest) * static_cast<double>(words - 1));
  constexpr int points = 200;
  for (int i = 0; i <= points; ++i) {
    std::vector<float> logits(static_cast<size_t>(words));
    logits[0] = static_cast<float>(highest_logit * i / points);
    const Losses losses = losses_of(logits, 0, smoothing);
    curve.points.push_back({std::exp(-double{losses.likelihood}), double{losses.smoothed}});
  }
  return curve;
}

}  // namespace

void declare(Section& own, SmoothedTargets& options) {
  own.add("words", options.words, "how many the vocabulary has", at_least(2).at_most(100));
  own.add("smoothing", options.smoothing, "the share that is spread", at_least(0).below(1));
}

HeatMaps chart(const SmoothedTargets& options) {
  const auto amount = static_cast<float>(options.smoothing);
  return {.title = fmt::format("Targets with label smoothing {}", options.smoothing),
          .x_title = "word",
          .y_title = "right word",
          .least = 0,
          .most = 1,
          .maps = {targets("over all words", options.words, {amount, SmoothingOver::all}),
                   targets("over the others", options.words, {amount, SmoothingOver::others})}};
}

void declare(Section& own, SmoothedLosses& options) {
  own.add("words", options.words, "how many the vocabulary has", at_least(2).at_most(100'000));
  own.add("smoothing", options.smoothing, "the share that is spread", at_least(0).below(1));
}

LineChart chart(const SmoothedLosses& options) {
  const auto amount = static_cast<float>(options.smoothing);
  return {.title = fmt::format("The loss of one word among {}", options.words),
          .x_title = "predicted probability of the right word",
          .y_title = "cross-entropy with the smoothed target",
          .curves = {loss_curve("not smoothed", options.words, {0, SmoothingOver::all}),
                     loss_curve(fmt::format("{} over all words", options.smoothing), options.words,
                                {amount, SmoothingOver::all}),
                     loss_curve(fmt::format("{} over the others", options.smoothing), options.words,
                                {amount, SmoothingOver::others})}};
}

}  // namespace dragoman
