// The gradient of one weight, beside what the loss does when the weight moves a little.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/quotes.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// The same model with room for gradients: the traced one may be mapped from its file.
class LearningModel {
 public:
  LearningModel(const TracedPair& traced, const Smoothing& smoothing)
      : t_(traced),
        smoothing_(smoothing),
        model_(without_dropout(traced.model.config), traced.model.device, Buffers::weights_and_gradients),
        targets_(traced.model.device.pool, traced.pair.expected) {
    const auto& from = traced.model.parameters.list();
    const auto& to = model_.parameters.list();
    for (size_t i = 0; i < to.size(); ++i)
      std::ranges::copy(from[i].value.values(), to[i].value.writable_values().begin());
  }

  void backward() {
    Tape tape;
    run(&tape);
    tape.backward();
  }

  // With another value of one weight, which it keeps.
  double loss_with(const Parameter& parameter, size_t element, float value) {
    parameter.value.writable_values()[element] = value;
    model_.parameters.changed();
    return run(nullptr);
  }

  const std::vector<Parameter>& parameters() const { return model_.parameters.list(); }

  std::vector<float> gradient_of(const Parameter& parameter) const {
    const float* gradient = parameter.value.gradient().data;
    const HostView<const float> values(t_.model.device.memory,
                                       {gradient, static_cast<size_t>(parameter.size())});
    return {values.begin(), values.end()};
  }

 private:
  double run(Tape* tape) {
    Pass pass{.device = t_.model.device, .tape = tape};
    const HostMatrix losses = on_host(loss(pass, model_, t_.source, t_.target, targets_, smoothing_));
    double sum = 0;
    for (int64_t r = 0; r < losses.rows; ++r) sum += static_cast<double>(losses.row(r)[0]);
    return sum;
  }

  const TracedPair& t_;
  Smoothing smoothing_;
  Transformer model_;
  Array<int32_t> targets_;
};

// The feed-forward network's second matrix, which every kind of layer has.
std::string default_weight(const TracedPair& t, int64_t layer) {
  const auto index = static_cast<size_t>(layer - 1);
  const FeedForward& in = index < t.model.encoder.size() ? t.model.encoder[index].feed_forward
                                                         : t.model.decoder[index].feed_forward;
  return t.name_of(in.outer.weight);
}

const Parameter& parameter_named(const LearningModel& model, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& parameter : model.parameters()) {
    if (parameter.constant) continue;
    if (parameter.name == name) return parameter;
    names.push_back(parameter.name);
  }
  throw OptionError("weight", fmt::format("is {}, which the model does not have{}", in_quotes(name),
                                          suggestion(name, names)));
}

size_t largest_of(const std::vector<float>& gradient) {
  const auto largest = std::ranges::max_element(gradient, {}, [](float g) { return std::abs(g); });
  return static_cast<size_t>(largest - gradient.begin());
}

Table quotients(LearningModel& model, const Parameter& parameter, size_t element, float gradient) {
  const float w = parameter.value.values()[element];
  Table table = {.name = "quotients",
                 .formula = "(f(w + h) − f(w − h)) / 2h, with f the smoothed loss of the sentence",
                 .rows = {},
                 .columns = {"f(w + h)", "f(w − h)", "quotient", "backward", "difference"},
                 .cells = {},
                 .digits = 6};
  for (const float step : {1.0F, 0.1F, 0.01F}) {
    const float above = w + step, below = w - step;
    const double high = model.loss_with(parameter, element, above),
                 low = model.loss_with(parameter, element, below),
                 quotient = (high - low) / (static_cast<double>(above) - static_cast<double>(below)),
                 backward = static_cast<double>(gradient);
    table.rows.push_back(fmt::format("h = {:g}", step));
    table.cells.push_back({high, low, quotient, backward, quotient - backward});
  }
  return table;
}

}  // namespace

Step explain_gradient(const TracedPair& t, const ExplainOptions& options) {
  StepSection section = {.name = "weight", .title = "The gradient of one weight"};
  if (t.is_low_precision()) {
    section.notes.emplace_back(
        "Weights in low precision have no gradients: explain the model that they came from.");
    return {.name = "gradient", .sections = {std::move(section)}};
  }
  LearningModel model(t, options.smoothing);
  const Parameter& parameter =
      parameter_named(model, options.weight.empty() ? default_weight(t, options.layer) : options.weight);
  model.backward();
  const std::vector<float> gradient = model.gradient_of(parameter);
  const size_t element = largest_of(gradient);
  const auto columns = parameter.value.columns(), at = static_cast<int64_t>(element);
  section.notes.push_back(fmt::format(
      "The element of {} with the largest gradient; --weight names another parameter.", parameter.name));
  section.notes.emplace_back(
      "A large h shows the curvature of the loss, a small one the rounding of 32-bit floats.");
  section.tables.push_back(
      {.name = "backward",
       .formula = fmt::format("w is {}[{}, {}]; ∂f/∂w is what the backward pass computes", parameter.name,
                              at / columns, at % columns),
       .rows = {"w"},
       .columns = {"row", "column", "value", "∂f/∂w"},
       .cells = {{at / columns, at % columns, static_cast<double>(parameter.value.values()[element]),
                  static_cast<double>(gradient[element])}},
       .digits = 6});
  if (t.pair.given > 0) section.notes.emplace_back("Here the loss counts the given tokens, too.");
  section.tables.push_back(quotients(model, parameter, element, gradient[element]));
  return {.name = "gradient", .sections = {std::move(section)}};
}

}  // namespace dragoman::internal
