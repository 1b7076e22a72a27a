// Scaled dot-product attention of one head, and what becomes of all heads.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/quotes.h"
#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// Where a head's queries, keys or values are: some columns of a product.
struct Projection {
  const Trace::Product& product;
  int64_t first, width;

  HostMatrix values() const { return columns_of(on_host(product.y), first, width); }
};

struct TracedHead {
  Projection q, k, v;
  const Trace::Attention& op;  // of all heads
  const Linear& output;        // W^O
  int64_t number, heads;       // counted from 0

  bool is_cross() const { return &q.product != &k.product; }
};

TracedHead head_of(const TracedPair& t, const SelfAttention& layer, int64_t number) {
  const Trace::Product& qkv = t.product_with(layer.qkv.weight);
  const int64_t all = qkv.y.columns() / 3, width = all / layer.heads, first = number * width;
  return {.q = {qkv, first, width},
          .k = {qkv, all + first, width},
          .v = {qkv, 2 * all + first, width},
          .op = t.attention_of(qkv.y),
          .output = layer.output,
          .number = number,
          .heads = layer.heads};
}

TracedHead head_of(const TracedPair& t, const CrossAttention& layer, int64_t number) {
  const Trace::Product &q = t.product_with(layer.query.weight), &kv = t.product_with(layer.key_value.weight);
  const int64_t all = q.y.columns(), width = all / layer.heads, first = number * width;
  return {.q = {q, first, width},
          .k = {kv, first, width},
          .v = {kv, all + first, width},
          .op = t.attention_of(q.y),
          .output = layer.output,
          .number = number,
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

// What softmax reads: the op itself never has all of it in memory.
class Scores {
 public:
  explicit Scores(const TracedHead& head)
      : head_(head),
        options_(head.op.options),
        q_(head.q.values()),
        k_(head.k.values()),
        bias_(options_.distance_bias ? on_host(options_.distance_bias) : HostMatrix()),
        distances_(options_.distance_keys ? on_host(options_.distance_keys) : HostMatrix()) {}

  double score(int64_t query, int64_t key) const {
    if (options_.causal && key > query) return -std::numeric_limits<double>::infinity();
    double sum = dot(q_.row(query), k_.row(key));
    if (distances_.rows > 0)
      sum += dot(q_.row(query), distances_.row(row_of_distance(distances_.rows, key - query)));
    sum /= std::sqrt(static_cast<double>(head_.q.width));
    if (bias_.rows == 0) return sum;
    const auto of_distance = bias_.row(row_of_distance(bias_.rows, key - query));
    return sum + static_cast<double>(of_distance[static_cast<size_t>(head_.number)]);
  }

  Table table(const Labels& queries, const Labels& keys) const {
    Table table = {.name = "scores", .formula = formula(), .rows = queries, .columns = keys, .cells = {}};
    for (int64_t i = 0; i < q_.rows; ++i) {
      std::vector<Cell>& row = table.cells.emplace_back();
      for (int64_t j = 0; j < k_.rows; ++j) row.emplace_back(score(i, j));
    }
    return table;
  }

 private:
  std::string formula() const {
    const int64_t width = head_.q.width;
    return fmt::format(
        "{}{}, √d_k = √{} = {:.6g}{}", distances_.rows > 0 ? "q·(k + distance)ᵀ/√d_k" : "q·kᵀ/√d_k",
        bias_.rows > 0 ? " + bias of the distance" : "", width, std::sqrt(static_cast<double>(width)),
        options_.causal ? "; the mask makes scores of later tokens −∞" : "");
  }

  const TracedHead& head_;
  const AttentionOptions& options_;
  HostMatrix q_, k_, bias_, distances_;
};

// Of the scores, as the model's own kernel computes it; and the sum of each row.
Table softmax_table(const TracedPair& t, const TracedHead& head, const Labels& queries, const Labels& keys) {
  Pass pass{.device = t.model.device};
  const HostMatrix all = on_host(attention_weights(pass, head.op.q, head.op.k, head.op.options));
  const int64_t width = all.columns / head.heads;
  Table table = vectors("weights", "softmax of each row: e^score / Σ e^score", queries,
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

Table projection_table(const TracedPair& t, const char* name, std::string_view formula,
                       const Projection& projection, const Labels& labels) {
  const int64_t last = projection.first + projection.width - 1;
  return vectors(name,
                 fmt::format("{}, columns {} to {} of {}", formula, projection.first, last,
                             t.name_of(projection.product.weight)),
                 labels, projection.values());
}

// Of keys and values by their distance from the query.
void add_distance_vectors(const AttentionOptions& options, StepSection& section) {
  if (!options.distance_keys) return;
  const int64_t reach = options.distance_keys.rows() / 2;
  Labels distances;
  for (int64_t d = -reach; d <= reach; ++d) distances.push_back(fmt::format("{}", d));
  section.tables.push_back(vectors("distance_keys", "added to keys at this distance from the query",
                                   distances, options.distance_keys));
  section.tables.push_back(
      vectors("distance_values", "added to their values", distances, options.distance_values));
}

StepSection attention_section(const TracedPair& t, const char* name, std::string title,
                              const TracedHead& head, const Labels& queries, const Labels& keys) {
  const bool turns = !head.is_cross() && t.model.config.positions == Positions::rotary;
  const char *of_values = head.is_cross() ? "memory·W + b" : "x·W + b",
             *turned = turns ? ", turned by its position" : "",
             *normed = t.model.config.query_key_norm ? ", divided by its root mean square" : "";
  const std::string of_queries = fmt::format("x·W + b{}{}", turned, normed),
                    of_keys = fmt::format("{}{}{}", of_values, turned, normed);
  const HostMatrix heads = on_host(head.op.heads);
  const int64_t width = head.q.width;
  StepSection section = {.name = name, .title = std::move(title)};
  section.tables.push_back(vectors("x", "what the sublayer reads", queries, head.q.product.x));
  if (head.is_cross())
    section.tables.push_back(vectors("memory", "the encoder's output", keys, head.k.product.x));
  add_distance_vectors(head.op.options, section);
  section.tables.insert(
      section.tables.end(),
      {projection_table(t, "q", of_queries, head.q, queries), projection_table(t, "k", of_keys, head.k, keys),
       projection_table(t, "v", of_values, head.v, keys), Scores(head).table(queries, keys),
       softmax_table(t, head, queries, keys),
       vectors("head", head.op.options.distance_values ? "weights·(v + distance)" : "weights·v", queries,
               columns_of(heads, head.number * width, width)),
       vectors("concatenated", fmt::format("all {} side by side", counted(head.heads, "head")), queries,
               heads),
       vectors("output", "concatenated·W + b, " + t.name_of(head.output.weight), queries,
               t.product_with(head.output.weight).y)});
  return section;
}

StepSection recurrence_section(const TracedPair& t, const Ssru& layer, const ExplainOptions& options) {
  const Trace::Product& product = t.product_with(layer.gate_and_input.weight);
  const Trace::Recurrence& op = t.recurrence_of(product.y);
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
      vectors("x", "what the sublayer reads", t.read_labels, product.x),
      vectors("gate", fmt::format("f = σ(x·W_f + b_f), columns 0 to {} of {}", width - 1, weight),
              t.read_labels, gate),
      vectors("candidate", fmt::format("x̃ = x·W + b, columns {} to {} of {}", width, 2 * width - 1, weight),
              t.read_labels, columns_of(both, width, width)),
      vectors("state", "c[t] = f·c[t−1] + (1 − f)·x̃, from c = 0", t.read_labels, op.result.states),
      vectors("output", "max(0, c)", t.read_labels, op.result.output)};
  return section;
}

// A stack that does not have the layer or the head, while the other one has.
StepSection missing(const char* name, const char* stack, int64_t layers, int64_t heads) {
  return {.name = name,
          .title = fmt::format("Attention of the {}", stack),
          .notes = {
              fmt::format("The {} has {} of {}.", stack, counted(layers, "layer"), counted(heads, "head"))}};
}

std::string title_of(const char* what, const ExplainOptions& options, size_t layers, int64_t heads) {
  return fmt::format("{}: layer {} of {}, head {} of {}", what, options.layer, layers, options.head, heads);
}

StepSection encoder_section(const TracedPair& t, const ExplainOptions& options) {
  const auto& encoder = t.model.encoder;
  const auto index = static_cast<size_t>(options.layer - 1);
  const int64_t heads = t.model.config.heads;
  if (index >= encoder.size() || options.head > heads)
    return missing("encoder", "encoder", std::ssize(encoder), heads);
  return attention_section(
      t, "encoder", title_of("Self-attention of the encoder", options, encoder.size(), heads),
      head_of(t, encoder[index].self_attention, options.head - 1), t.source_labels, t.source_labels);
}

void add_decoder_sections(const TracedPair& t, const ExplainOptions& options, Step& step) {
  const ModelConfig& config = t.model.config;
  const auto& decoder = t.model.decoder;
  const auto index = static_cast<size_t>(options.layer - 1);
  const int64_t heads = decoder_heads(config), head = options.head - 1;
  if (index >= decoder.size() || head >= heads)
    return void(step.sections.push_back(missing("decoder", "decoder", std::ssize(decoder), heads)));
  step.sections.push_back(
      has_ssru(config)
          ? recurrence_section(t, decoder[index].ssru, options)
          : attention_section(t, "decoder",
                              title_of("Self-attention of the decoder", options, decoder.size(), heads),
                              head_of(t, decoder[index].self_attention, head), t.read_labels, t.read_labels));
  if (has_encoder(config))
    step.sections.push_back(attention_section(
        t, "cross", title_of("Attention of the decoder to the source", options, decoder.size(), heads),
        head_of(t, decoder[index].cross_attention, head), t.read_labels, t.source_labels));
}

}  // namespace

Step explain_attention(const TracedPair& t, const ExplainOptions& options) {
  Step step = {.name = "attention", .sections = {}};
  if (has_encoder(t.model.config)) step.sections.push_back(encoder_section(t, options));
  add_decoder_sections(t, options, step);
  return step;
}

}  // namespace dragoman::internal
