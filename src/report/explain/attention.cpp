// Scaled dot-product attention of one head, and what becomes of all heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/quotes.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// One attention of a layer: its projections for all heads, and the op that reads them.
struct TracedAttention {
  HostMatrix x, memory;  // what it reads; memory: nothing in self-attention
  HostMatrix q, k, v;
  std::string q_name, k_name, v_name;  // the weights, and their columns
  const Trace::Attention& op;
  const Tensor& output;  // W^O
  int64_t heads;
};

struct HeadOfAttention {
  HostMatrix q, k, v, heads;
  int64_t number, width;  // counted from 0
};

std::string place(const TracedPair& t, const Tensor& weight, int64_t begin, int64_t width) {
  return fmt::format("columns {} to {} of {}", begin, begin + width - 1, t.name_of(weight));
}

TracedAttention self_attention_of(const TracedPair& t, const SelfAttention& layer, int64_t head) {
  const Trace::Product& product = t.product_with(layer.qkv.weight);
  const HostMatrix qkv = on_host(product.y);
  const int64_t all = qkv.columns / 3, width = all / layer.heads, first = head * width;
  const Tensor& weight = layer.qkv.weight;
  return {.x = on_host(product.x),
          .memory = {},
          .q = columns_of(qkv, 0, all),
          .k = columns_of(qkv, all, all),
          .v = columns_of(qkv, 2 * all, all),
          .q_name = place(t, weight, first, width),
          .k_name = place(t, weight, all + first, width),
          .v_name = place(t, weight, 2 * all + first, width),
          .op = t.attention_of(product.y),
          .output = layer.output.weight,
          .heads = layer.heads};
}

TracedAttention cross_attention_of(const TracedPair& t, const CrossAttention& layer, int64_t head) {
  const Trace::Product &query = t.product_with(layer.query.weight),
                       &key_value = t.product_with(layer.key_value.weight);
  const HostMatrix kv = on_host(key_value.y);
  const int64_t all = kv.columns / 2, width = all / layer.heads, first = head * width;
  return {.x = on_host(query.x),
          .memory = on_host(key_value.x),
          .q = on_host(query.y),
          .k = columns_of(kv, 0, all),
          .v = columns_of(kv, all, all),
          .q_name = place(t, layer.query.weight, first, width),
          .k_name = place(t, layer.key_value.weight, first, width),
          .v_name = place(t, layer.key_value.weight, all + first, width),
          .op = t.attention_of(query.y),
          .output = layer.output.weight,
          .heads = layer.heads};
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
  return sum;
}

// The row of a table by distance. Distances beyond its ends share the last rows.
int64_t row_of_distance(int64_t rows, int64_t distance) {
  const int64_t reach = rows / 2;
  return std::clamp(distance, -reach, reach) + reach;
}

// The numbers that softmax reads: the op itself never has them in memory.
Table score_table(const HeadOfAttention& head, const AttentionOptions& options, Labels queries, Labels keys,
                  std::string formula) {
  const HostMatrix bias = options.distance_bias ? on_host(options.distance_bias) : HostMatrix(),
                   distances = options.distance_keys ? on_host(options.distance_keys) : HostMatrix();
  Table table = {.name = "scores",
                 .formula = std::move(formula),
                 .rows = std::move(queries),
                 .columns = std::move(keys),
                 .cells = {}};
  for (int64_t i = 0; i < head.q.rows; ++i) {
    std::vector<Cell>& row = table.cells.emplace_back();
    for (int64_t j = 0; j < head.k.rows; ++j) {
      double score = dot(head.q.row(i), head.k.row(j));
      if (distances.rows > 0)
        score += dot(head.q.row(i), distances.row(row_of_distance(distances.rows, j - i)));
      score /= std::sqrt(static_cast<double>(head.width));
      if (bias.rows > 0)
        score += static_cast<double>(
            bias.row(row_of_distance(bias.rows, j - i))[static_cast<size_t>(head.number)]);
      row.emplace_back(options.causal && j > i ? -std::numeric_limits<double>::infinity() : score);
    }
  }
  return table;
}

std::string score_formula(const AttentionOptions& options, int64_t width) {
  std::string formula = options.distance_keys ? "q·(k + distance)ᵀ/√d_k" : "q·kᵀ/√d_k";
  if (options.distance_bias) formula += " + bias of the distance";
  formula += fmt::format(", √d_k = √{} = {:.6g}", width, std::sqrt(static_cast<double>(width)));
  return options.causal ? formula + "; the mask makes scores of later tokens −∞" : formula;
}

// softmax(scores) as the model's own kernel computes it, and the sum of each row.
Table weight_table(const TracedPair& t, const TracedAttention& a, const HeadOfAttention& head, Labels queries,
                   const Labels& keys) {
  Pass pass{.device = t.model.device};
  const HostMatrix all = on_host(attention_weights(pass, a.op.q, a.op.k, a.op.options));
  const int64_t width = all.columns / a.heads;
  Table table = vectors("weights", "softmax of each row: e^score / Σ e^score", std::move(queries),
                        columns_of(all, head.number * width, width));
  table.columns = keys;
  table.columns.emplace_back("sum");
  for (std::vector<Cell>& row : table.cells) {
    double sum = 0;
    for (const Cell& cell : row) sum += std::get<double>(cell);
    row.emplace_back(sum);
  }
  return table;
}

StepSection attention_section(const TracedPair& t, const char* name, std::string title,
                              const TracedAttention& a, int64_t number, const Labels& queries,
                              const Labels& keys) {
  const AttentionOptions& options = a.op.options;
  const int64_t width = a.q.columns / a.heads, first = number * width;
  const HostMatrix heads = on_host(a.op.heads);
  const HeadOfAttention head = {.q = columns_of(a.q, first, width),
                                .k = columns_of(a.k, first, width),
                                .v = columns_of(a.v, first, width),
                                .heads = columns_of(heads, first, width),
                                .number = number,
                                .width = width};
  const bool turned = t.model.config.positions == Positions::rotary && &a.op.q.storage() == &a.op.k.storage();
  const char* after = turned ? ", turned by the angle of its position" : "";
  const char* read = a.memory.rows > 0 ? "memory" : "x";
  StepSection section = {.name = name, .title = std::move(title)};
  section.tables = {
      vectors("x", "what the sublayer reads", queries, a.x),
      vectors("q", fmt::format("x·W + b{}, {}", after, a.q_name), queries, head.q),
      vectors("k", fmt::format("{}·W + b{}, {}", read, after, a.k_name), keys, head.k),
      vectors("v", fmt::format("{}·W + b, {}", read, a.v_name), keys, head.v),
      score_table(head, options, queries, keys, score_formula(options, width)),
      weight_table(t, a, head, queries, keys),
      vectors("head",
              options.distance_values ? "weights·(v + distance): the head's output"
                                      : "weights·v: the head's output",
              queries, head.heads),
      vectors("concatenated", fmt::format("all {} side by side", counted(a.heads, "head")), queries, heads),
      vectors("output", "concatenated·W + b, " + t.name_of(a.output), queries, t.product_with(a.output).y)};
  if (a.memory.rows > 0)
    section.tables.insert(section.tables.begin() + 1,
                          vectors("memory", "the encoder's output", keys, a.memory));
  return section;
}

std::string title_of(const char* what, const ExplainOptions& options, int64_t layers, int64_t heads) {
  return fmt::format("{}: layer {} of {}, head {} of {}", what, options.layer, layers, options.head, heads);
}

// f and x̃ side by side, before σ.
StepSection recurrence_section(const TracedPair& t, const Ssru& layer, const ExplainOptions& options) {
  const Trace::Recurrence& op = t.recurrence_of(t.product_with(layer.gate_and_input.weight).y);
  const HostMatrix both = on_host(op.gate_and_input);
  const int64_t width = both.columns / 2;
  HostMatrix gate = columns_of(both, 0, width);
  for (float& value : gate.values) value = 1 / (1 + std::exp(-value));
  const std::string weight = t.name_of(layer.gate_and_input.weight);
  StepSection section = {.name = "decoder",
                         .title = fmt::format("The decoder's recurrent unit: layer {} of {}", options.layer,
                                              t.model.decoder.size()),
                         .notes = {"It stands in for self-attention (Kim et al., 2019)."}};
  section.tables = {
      vectors("gate", fmt::format("f = σ(x·W_f + b_f), columns 0 to {} of {}", width - 1, weight),
              t.read_labels, gate),
      vectors("candidate", fmt::format("x̃ = x·W + b, columns {} to {} of {}", width, 2 * width - 1, weight),
              t.read_labels, columns_of(both, width, width)),
      vectors("state", "c[t] = f·c[t−1] + (1 − f)·x̃, from c = 0", t.read_labels, op.result.states),
      vectors("output", "max(0, c)", t.read_labels, op.result.output)};
  return section;
}

StepSection missing(const char* name, const char* title, std::string note) {
  return {.name = name, .title = title, .notes = {std::move(note)}};
}

StepSection encoder_section(const TracedPair& t, const ExplainOptions& options) {
  const auto layers = std::ssize(t.model.encoder);
  const char* title = "Self-attention of the encoder";
  if (options.layer > layers || options.head > t.model.config.heads)
    return missing("encoder", title,
                   fmt::format("The encoder has {} of {}.", counted(layers, "layer"),
                               counted(t.model.config.heads, "head")));
  const SelfAttention& layer = t.model.encoder[static_cast<size_t>(options.layer - 1)].self_attention;
  return attention_section(t, "encoder", title_of(title, options, layers, layer.heads),
                           self_attention_of(t, layer, options.head - 1), options.head - 1, t.source_labels,
                           t.source_labels);
}

StepSection decoder_section(const TracedPair& t, const ExplainOptions& options, const DecoderLayer& layer) {
  if (has_ssru(t.model.config)) return recurrence_section(t, layer.ssru, options);
  const auto layers = std::ssize(t.model.decoder);
  return attention_section(
      t, "decoder", title_of("Self-attention of the decoder", options, layers, layer.self_attention.heads),
      self_attention_of(t, layer.self_attention, options.head - 1), options.head - 1, t.read_labels,
      t.read_labels);
}

}  // namespace

Step explain_attention(const TracedPair& t, const ExplainOptions& options) {
  Step step = {.name = "attention", .sections = {}};
  if (has_encoder(t.model.config)) step.sections.push_back(encoder_section(t, options));
  const auto layers = std::ssize(t.model.decoder);
  const int64_t heads = decoder_heads(t.model.config);
  if (options.layer > layers || options.head > heads) {
    step.sections.push_back(
        missing("decoder", "Attention of the decoder",
                fmt::format("The decoder has {} of {}.", counted(layers, "layer"), counted(heads, "head"))));
    return step;
  }
  const DecoderLayer& layer = t.model.decoder[static_cast<size_t>(options.layer - 1)];
  step.sections.push_back(decoder_section(t, options, layer));
  if (has_encoder(t.model.config))
    step.sections.push_back(attention_section(
        t, "cross", title_of("Attention of the decoder to the source", options, layers, heads),
        cross_attention_of(t, layer.cross_attention, options.head - 1), options.head - 1, t.read_labels,
        t.source_labels));
  return step;
}

}  // namespace dragoman::internal
