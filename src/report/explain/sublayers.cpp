// What surrounds a sublayer, residual connection and norm, and the feed-forward network.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// A layer of a stack as these steps see it: its first sublayer, and its feed-forward network.
struct LayerParts {
  const char *stack, *sublayer;
  int64_t number, layers;  // counted from 1
  const Norm& norm;        // the first sublayer's
  Tensor output;           // of the first sublayer
  const FeedForward& feed_forward;
  const Labels& labels;
};

std::vector<LayerParts> layers_of(const TracedPair& t, const ExplainOptions& options) {
  std::vector<LayerParts> parts;
  const auto index = static_cast<size_t>(options.layer - 1);
  if (index < t.model.encoder.size()) {
    const EncoderLayer& layer = t.model.encoder[index];
    parts.push_back({"encoder", "self-attention", options.layer, std::ssize(t.model.encoder),
                     layer.self_attention.norm, t.product_with(layer.self_attention.output.weight).y,
                     layer.feed_forward, t.source_labels});
  }
  if (index < t.model.decoder.size()) {
    const DecoderLayer& layer = t.model.decoder[index];
    const bool recurs = has_ssru(t.model.config);
    const Tensor output =
        recurs ? t.recurrence_of(t.product_with(layer.ssru.gate_and_input.weight).y).result.output
               : t.product_with(layer.self_attention.output.weight).y;
    parts.push_back({"decoder", recurs ? "recurrent unit" : "self-attention", options.layer,
                     std::ssize(t.model.decoder), recurs ? layer.ssru.norm : layer.self_attention.norm,
                     output, layer.feed_forward, t.read_labels});
  }
  return parts;
}

// Behind the table of x itself.
void add_residual(const TracedPair& t, const LayerParts& part, const char* after, StepSection& section) {
  const Trace::Norm& sum = t.sum_with(part.output);
  section.tables.push_back(vectors("sublayer",
                                   fmt::format("Sublayer({}), the output of the {}", after, part.sublayer),
                                   part.labels, sum.branch));
  section.tables.push_back(vectors("sum", fmt::format("x + Sublayer({})", after), part.labels, sum.sum));
}

Table moments(const HostMatrix& x, const Labels& labels, bool is_rms, double epsilon) {
  Table table = {.name = "moments",
                 .formula = is_rms ? fmt::format("mean of squares, and its root; ε = {:g}", epsilon)
                                   : fmt::format("mean, variance, and √(variance + ε); ε = {:g}", epsilon),
                 .rows = labels,
                 .columns = is_rms ? Labels{"mean square", "root"} : Labels{"mean", "variance", "root"},
                 .cells = {},
                 .digits = 6};
  for (int64_t r = 0; r < x.rows; ++r) {
    const auto values = x.row(r);
    const auto width = static_cast<double>(x.columns);
    const double mean = is_rms ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / width;
    double squares = 0;
    for (const float value : values) squares += std::pow(static_cast<double>(value) - mean, 2);
    std::vector<Cell>& row = table.cells.emplace_back();
    if (!is_rms) row.emplace_back(mean);
    row.insert(row.end(), {squares / width, std::sqrt(squares / width + epsilon)});
  }
  return table;
}

void add_norm(const TracedPair& t, const LayerParts& part, StepSection& section) {
  const ModelConfig& config = t.model.config;
  const Trace::Norm& op = t.norm_with(part.norm.gain);
  const bool is_rms = config.norm_kind == NormKind::rms, is_pre = config.norm == NormOrder::pre;
  HostMatrix learned = on_host(part.norm.gain);
  Labels names = {"gain g"};
  if (!is_rms) {
    const HostMatrix bias = on_host(part.norm.bias);
    learned.values.insert(learned.values.end(), bias.values.begin(), bias.values.end());
    learned.rows = 2;
    names.emplace_back("bias b");
  }
  section.tables.push_back(moments(on_host(op.sum), part.labels, is_rms, config.norm_eps));
  section.tables.push_back(vectors("parameters", t.name_of(part.norm.gain) + (is_rms ? "" : " and its bias"),
                                   std::move(names), learned));
  const char* of = is_pre ? "Norm(x)" : "Norm(x + Sublayer(x))";
  section.tables.push_back(
      vectors("after",
              fmt::format("{} = {}", of,
                          is_rms ? "x / √(mean of squares + ε)·g" : "(x − mean)/√(variance + ε)·g + b"),
              part.labels, op.normed));
}

const char* activation_text(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "max(0, x·W1 + b1)";
    case Activation::gelu:
      return "z·Φ(z), z = x·W1 + b1";
    case Activation::gelu_tanh:
      return "z/2·(1 + tanh(√(2/π)·(z + 0.044715·z³))), z = x·W1 + b1";
    case Activation::gelu_sigmoid:
      return "z·σ(1.702·z), z = x·W1 + b1";
    case Activation::swish:
      return "z·σ(z), z = x·W1 + b1";
    case Activation::none:
      break;
  }
  return "x·W1 + b1";
}

Table activity(const HostMatrix& inner, const Labels& labels) {
  Table table = {.name = "activity",
                 .formula = "how many of the inner numbers relu has made zero",
                 .rows = labels,
                 .columns = {"inner width", "zero", "not zero"},
                 .cells = {}};
  for (int64_t r = 0; r < inner.rows; ++r) {
    const auto row = inner.row(r);
    const auto zeros = static_cast<int64_t>(std::ranges::count(row, 0.0F));
    table.cells.push_back({inner.columns, zeros, inner.columns - zeros});
  }
  return table;
}

}  // namespace

Step explain_norm(const TracedPair& t, const ExplainOptions& options) {
  Step step = {.name = "norm", .sections = {}};
  const bool is_pre = t.model.config.norm == NormOrder::pre;
  for (const LayerParts& part : layers_of(t, options)) {
    StepSection section = {.name = part.stack,
                           .title = fmt::format("Around the {}'s {}: layer {} of {}", part.stack,
                                                part.sublayer, part.number, part.layers)};
    section.notes.emplace_back(is_pre ? "pre-norm: x + Sublayer(Norm(x)), and a norm at the end of the stack."
                                      : "post-norm, as in the paper: Norm(x + Sublayer(x)).");
    const Trace::Norm& norm = t.norm_with(part.norm.gain);
    section.tables.push_back(
        vectors("x", "before the sublayer", part.labels, is_pre ? norm.sum : norm.residual));
    if (is_pre) add_norm(t, part, section);
    add_residual(t, part, is_pre ? "Norm(x)" : "x", section);
    if (!is_pre) add_norm(t, part, section);
    step.sections.push_back(std::move(section));
  }
  return step;
}

Step explain_feed_forward(const TracedPair& t, const ExplainOptions& options) {
  Step step = {.name = "feed-forward", .sections = {}};
  const ModelConfig& config = t.model.config;
  for (const LayerParts& part : layers_of(t, options)) {
    const FeedForward& layer = part.feed_forward;
    const Trace::Product &inner = t.product_with(layer.inner.weight),
                         &outer = t.product_with(layer.outer.weight);
    StepSection section = {
        .name = part.stack,
        .title = fmt::format("Feed-forward network of the {}: layer {} of {}, {} → {} → {}", part.stack,
                             part.number, part.layers, config.d_model, inner.y.columns(), config.d_model)};
    section.tables.push_back(vectors("x", "what the sublayer reads", part.labels, inner.x));
    section.tables.push_back(vectors(
        "inner", fmt::format("{}, {}", activation_text(config.activation), t.name_of(layer.inner.weight)),
        part.labels, inner.y));
    if (config.activation == Activation::relu)
      section.tables.push_back(activity(on_host(inner.y), part.labels));
    if (config.gated)
      section.tables.push_back(
          vectors("gated", "inner ∘ (x·V + c), " + t.name_of(layer.value.weight), part.labels, outer.x));
    section.tables.push_back(vectors(
        "output",
        fmt::format("{}·W2 + b2, {}", config.gated ? "gated" : "inner", t.name_of(layer.outer.weight)),
        part.labels, outer.y));
    step.sections.push_back(std::move(section));
  }
  return step;
}

}  // namespace dragoman::internal
