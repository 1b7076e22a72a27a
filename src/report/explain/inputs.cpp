// What goes into the stacks: tokens, their embeddings, their positions.
#include <cmath>

#include <fmt/format.h>

#include "report/explain/steps.h"

namespace dragoman::internal {
namespace {

// A side of the pair, and what the model does with it before its stack.
struct InputSide {
  const char *name, *title;
  const ExplainedPair& pair;
  const Labels& labels;
  const std::vector<int32_t>& ids;
  const Trace::Embedding& embedded;
  const Embedding& layer;
};

std::vector<InputSide> sides_of(const TracedPair& t) {
  std::vector<InputSide> sides;
  if (has_encoder(t.model.config))
    sides.push_back({"source", "What the encoder reads", t.pair, t.source_labels, t.pair.source,
                     t.trace.embeddings.front(), t.model.source_embedding});
  sides.push_back({"target", "What the decoder reads", t.pair, t.read_labels, t.pair.read,
                   t.trace.embeddings.back(), t.model.target_embedding});
  return sides;
}

// With the start token, one place behind what is to be predicted.
Table token_table(const TracedPair& t, const InputSide& side) {
  const bool predicts = std::string_view(side.name) == "target";
  Table table = {.name = "tokens", .formula = "", .rows = {}, .columns = {"piece", "id"}, .cells = {}};
  if (predicts) table.columns.insert(table.columns.end(), {"predicts", "id of that"});
  for (size_t i = 0; i < side.ids.size(); ++i) {
    table.rows.push_back(fmt::format("{}", i));
    auto& row = table.cells.emplace_back();
    row.insert(row.end(), {side.labels[i], int64_t{side.ids[i]}});
    if (predicts) row.insert(row.end(), {t.expected_labels[i], int64_t{t.pair.expected[i]}});
  }
  return table;
}

// The rows of the table times a factor, as the op looks them up.
Tensor looked_up(const TracedPair& t, const InputSide& side, float scale) {
  Pass pass{.device = t.model.device};
  EmbedOptions options = side.embedded.options;
  options.scale = scale;
  const bool is_source = &side.layer == &t.model.source_embedding;
  return embed(pass, is_source ? t.source : t.target, side.embedded.table, {}, options);
}

std::string scale_text(const ModelConfig& config, float scale) {
  return config.embedding_scale > 0 ? fmt::format("{:g}", scale)
                                    : fmt::format("√d_model, √{} = {:.6g}", config.d_model, scale);
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
      return "PE: a table of the model's file";
  }
}

Labels numbered(size_t count, int64_t first) {
  Labels labels;
  for (size_t i = 0; i < count; ++i) labels.push_back(fmt::format("{}", first + static_cast<int64_t>(i)));
  return labels;
}

HostMatrix first_rows(const Tensor& tensor, size_t count) {
  return on_host(tensor.row_range(0, static_cast<int64_t>(count)));
}

void add_positions(const TracedPair& t, const InputSide& side, StepSection& section) {
  const ModelConfig& config = t.model.config;
  const size_t count = side.ids.size();
  const bool is_computed = !has_fixed_length(config.positions);
  section.tables.push_back(vectors(
      "positions", fmt::format("{}, d = {}", position_formula(config.positions), config.d_model),
      numbered(count, is_computed ? config.position_offset : 0), first_rows(side.embedded.positions, count)));
  section.tables.push_back(vectors("sum", "x = E[id]·scale + PE[p]", side.labels, side.embedded.y));
}

// Where no positions are added: what attention has instead.
void add_distances(const TracedPair& t, const InputSide& side, StepSection& section) {
  Transformer& model = t.model;
  const bool is_source = &side.layer == &model.source_embedding;
  AttentionPositions& positions = is_source ? model.encoder_positions : model.decoder_positions;
  const size_t count = side.ids.size();
  if (!is_source && has_ssru(model.config)) {
    section.notes.emplace_back("None are added: the decoder's recurrent units know the order of tokens.");
  } else if (model.config.positions == Positions::rotary) {
    section.notes.emplace_back(
        "None are added: each attention turns pairs of columns of its queries and keys.");
    section.tables.push_back(vectors(
        "angles", "cosines, then sines, of p·base^(−2i/d_k): pair (i, d_k/2 + i) of a head turns so far",
        numbered(count, model.config.position_offset),
        first_rows(positions.angles.rows(model.device.pool, static_cast<int64_t>(count)), count)));
  } else if (model.config.positions == Positions::none) {
    section.notes.emplace_back(model.config.relative_distance > 0
                                   ? "None are added: keys and values get vectors of their distances."
                                   : "None are added.");
  } else {
    section.notes.emplace_back(
        "None are added: each attention adds a number for the distance of key and query to its scores.");
  }
}

}  // namespace

Step explain_tokens(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "tokens", .sections = {}};
  for (const InputSide& side : sides_of(t))
    step.sections.push_back({.name = side.name, .title = side.title, .tables = {token_table(t, side)}});
  return step;
}

Step explain_embedding(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "embedding", .sections = {}};
  for (const InputSide& side : sides_of(t)) {
    const float scale = side.embedded.options.scale;
    StepSection section = {.name = side.name, .title = side.title};
    section.tables.push_back(vectors("rows",
                                     fmt::format("E[id], the rows of {}", t.name_of(side.embedded.table)),
                                     side.labels, looked_up(t, side, 1)));
    section.tables.push_back(vectors("scaled", "E[id]·" + scale_text(t.model.config, scale), side.labels,
                                     looked_up(t, side, scale)));
    if (side.embedded.options.zero_start)
      section.notes.emplace_back("The first token is read as zeros: this model has no start symbol.");
    step.sections.push_back(std::move(section));
  }
  return step;
}

Step explain_positions(const TracedPair& t, const ExplainOptions&) {
  Step step = {.name = "positions", .sections = {}};
  for (const InputSide& side : sides_of(t)) {
    StepSection section = {.name = side.name, .title = side.title};
    if (side.embedded.positions) {
      add_positions(t, side, section);
    } else {
      add_distances(t, side, section);
    }
    if (t.model.config.embedding_norm)
      section.tables.push_back(
          vectors("normed", "x = Norm(x)", side.labels, t.norm_with(side.layer.norm.gain).normed));
    step.sections.push_back(std::move(section));
  }
  return step;
}

}  // namespace dragoman::internal
