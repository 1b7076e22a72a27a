// What goes into the stacks: tokens, their embeddings, their positions.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// A side of the pair, and what the model does with it before its stack.
struct InputSide {
  const char *name, *title;
  const Labels& labels;
  const Tokens& tokens;
  const Trace::Embedding& embedded;
  const Embedding& layer;
  AttentionPositions& positions;
  bool is_decoder;

  int64_t count() const { return tokens.count(); }
};

std::vector<InputSide> sides_of(const TracedPair& t) {
  Transformer& model = t.model;
  std::vector<InputSide> sides;
  if (has_encoder(model.config))
    sides.push_back({"source", "What the encoder reads", t.source_labels, t.source,
                     t.trace.embeddings.front(), model.source_embedding, model.encoder_positions, false});
  sides.push_back({"target", "What the decoder reads", t.read_labels, t.target, t.trace.embeddings.back(),
                   model.target_embedding, model.decoder_positions, true});
  return sides;
}

// The decoder should predict what stands one place further.
Table token_table(const TracedPair& t, const InputSide& side) {
  const std::vector<int32_t>& ids = side.is_decoder ? t.pair.read : t.pair.source;
  Table table = {.name = "tokens", .formula = "", .rows = {}, .columns = {"piece", "id"}, .cells = {}};
  if (side.is_decoder) table.columns.insert(table.columns.end(), {"predicts", "id of that"});
  for (size_t i = 0; i < ids.size(); ++i) {
    table.rows.push_back(fmt::format("{}", i));
    std::vector<Cell>& row = table.cells.emplace_back();
    row.insert(row.end(), {side.labels[i], int64_t{ids[i]}});
    if (side.is_decoder) row.insert(row.end(), {t.expected_labels[i], int64_t{t.pair.expected[i]}});
  }
  return table;
}

// The table's rows times a factor, as the op looks them up.
Tensor looked_up(const TracedPair& t, const InputSide& side, float scale) {
  Pass pass{.device = t.model.device};
  EmbedOptions options = side.embedded.options;
  options.scale = scale;
  return embed(pass, side.tokens, side.embedded.table, {}, options);
}

std::string scale_text(const ModelConfig& config, float scale) {
  if (config.embedding_scale > 0) return fmt::format("{:g}", scale);
  return fmt::format("√d_model, √{} = {:.6g}", config.d_model, scale);
}

const char* position_formula(Positions kind) {
  switch (kind) {
    case Positions::sinusoidal:
      return "PE[p, 2i] = sin(p / 10000^(2i/d)), PE[p, 2i+1] = cos(p / 10000^(2i/d))";
    case Positions::halves:
      return "PE[p, i] = sin(p / 10000^(2i/d)), PE[p, d/2 + i] = cos(p / 10000^(2i/d)), i < d/2";
    case Positions::tensor2tensor:
      return "PE[p, i] = sin(p / 10000^(i/(d/2 − 1))), PE[p, d/2 + i] its cosine, i < d/2";
    case Positions::raw_index:
      return "PE[p, c] = sin(p / 10000^(2c/d)) in even columns c, cos(p / 10000^(2c/d)) in odd ones";
    case Positions::learned:
      return "PE: a parameter, learned with the rest";
    default:
      return "PE: a table of the model file";
  }
}

Labels numbered(int64_t first, int64_t count) {
  Labels labels;
  for (int64_t i = first; i < first + count; ++i) labels.push_back(fmt::format("{}", i));
  return labels;
}

void add_to_embeddings(const TracedPair& t, const InputSide& side, StepSection& section) {
  const ModelConfig& config = t.model.config;
  const int64_t first = has_fixed_length(config.positions) ? 0 : config.position_offset;
  section.tables.push_back(
      vectors("positions", fmt::format("{}, d = {}", position_formula(config.positions), config.d_model),
              numbered(first, side.count()), side.embedded.positions.row_range(0, side.count())));
  section.tables.push_back(vectors("sum", fmt::format("x = E[id]·{:g} + PE[p]", side.embedded.options.scale),
                                   side.labels, side.embedded.y));
}

// What attention adds to a score, for the distances that occur.
Table distance_table(const TracedPair& t, const InputSide& side) {
  Pass pass{.device = t.model.device};
  const Tensor bias = side.positions.bias.rows(pass, side.count());
  const int64_t reach = bias.rows() / 2, before = std::min(reach, side.count() - 1),
                after = side.is_decoder ? 0 : before;
  Table table =
      vectors("bias", "added to the scores of a key at this distance from the query",
              numbered(-before, before + 1 + after), bias.row_range(reach - before, before + 1 + after));
  for (int64_t head = 1; head <= bias.columns(); ++head)
    table.columns.push_back(fmt::format("head {}", head));
  return table;
}

// Where the embeddings get no positions.
void show_those_of_attention(const TracedPair& t, const InputSide& side, StepSection& section) {
  const ModelConfig& config = t.model.config;
  if (side.is_decoder && has_ssru(config)) {
    section.notes.emplace_back("None are added: recurrent units read the tokens in their order.");
  } else if (config.positions == Positions::rotary) {
    section.notes.emplace_back("None are added: attention turns pairs of columns of its queries and keys.");
    const Tensor& angles = side.positions.angles.rows(t.model.device.pool, side.count());
    section.tables.push_back(
        vectors("angles",
                fmt::format("cosines, then sines, of p·{:g}^(−2i/d_k), by which columns i and d_k/2 + i turn",
                            config.rotary_base),
                numbered(config.position_offset, side.count()), angles.row_range(0, side.count())));
  } else if (config.positions == Positions::none) {
    section.notes.emplace_back(config.relative_distance > 0
                                   ? "None are added: keys and values get vectors of their distances."
                                   : "None are added.");
  } else {
    section.notes.emplace_back("None are added: attention knows distances.");
    section.tables.push_back(distance_table(t, side));
  }
}

}  // namespace

Step explain_tokens(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "tokens", .sections = {}};
  for (const InputSide& side : sides_of(t))
    step.sections.push_back({.name = side.name, .title = side.title, .tables = {token_table(t, side)}});
  if (t.pair.given > 0)
    step.sections.back().notes.push_back(
        fmt::format("Every output of this model begins with {}, which is given and counts in no loss.",
                    fmt::join(std::span(t.expected_labels).first(t.pair.given), " ")));
  return step;
}

Step explain_embedding(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "embedding", .sections = {}};
  for (const InputSide& side : sides_of(t)) {
    const float scale = side.embedded.options.scale;
    StepSection section = {.name = side.name, .title = side.title};
    section.tables = {vectors("rows", fmt::format("E[id], the rows of {}", t.name_of(side.embedded.table)),
                              side.labels, looked_up(t, side, 1)),
                      vectors("scaled", "E[id]·" + scale_text(t.model.config, scale), side.labels,
                              looked_up(t, side, scale))};
    if (side.embedded.options.zero_start)
      section.notes.emplace_back("The decoder reads zeros at its first position, instead of a start symbol.");
    step.sections.push_back(std::move(section));
  }
  return step;
}

Step explain_positions(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "positions", .sections = {}};
  for (const InputSide& side : sides_of(t)) {
    StepSection section = {.name = side.name, .title = side.title};
    if (side.embedded.positions) {
      add_to_embeddings(t, side, section);
    } else {
      show_those_of_attention(t, side, section);
    }
    if (t.model.config.embedding_norm)
      section.tables.push_back(
          vectors("normed", "x = Norm(x)", side.labels, t.norm_with(side.layer.norm.gain).normed));
    step.sections.push_back(std::move(section));
  }
  return step;
}

}  // namespace dragoman::internal
