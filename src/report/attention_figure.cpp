#include "report/attention_figure.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// A kind's keys in the inspection, and its words in figures.
struct KindNames {
  AttentionKind kind;
  const char *key, *title, *queries, *keys, *query_axis, *key_axis;
};

constexpr KindNames kinds[] = {
    {AttentionKind::encoder, "encoder", "Encoder self-attention", "source_tokens", "source_tokens",
     "source (query)", "source (key)"},
    {AttentionKind::decoder, "decoder", "Decoder self-attention", "read_tokens", "read_tokens",
     "output (query)", "output (key)"},
    {AttentionKind::cross, "cross", "Cross-attention", "said_tokens", "source_tokens", "output (query)",
     "source (key)"},
};

HeatMap table_of(const ordered_json& head, const std::string& title) {
  HeatMap map = {.title = title, .rows = std::ssize(head), .columns = std::ssize(head[0]), .values = {}};
  for (const ordered_json& row : head) {
    for (const ordered_json& weight : row) map.values.push_back(weight);
  }
  return map;
}

// Without the mark of a word's begin, which takes room.
std::vector<std::string> names_of(const ordered_json& tokens) {
  constexpr std::string_view mark = "▁";
  std::vector<std::string> names = tokens;
  for (std::string& name : names) {
    if (name.starts_with(mark) && name != mark) name.erase(0, mark.size());
  }
  return names;
}

HeatMaps layer_figure(const ordered_json& sentence, const KindNames& names, size_t layer) {
  const ordered_json& layers = sentence["attention"][names.key];
  HeatMaps figure = {.title = fmt::format("{}, layer {} of {}", names.title, layer, layers.size()),
                     .x_title = names.key_axis,
                     .y_title = names.query_axis,
                     .min = 0,
                     .max = 1,
                     .maps = {},
                     .row_names = names_of(sentence[names.queries]),
                     .column_names = names_of(sentence[names.keys]),
                     .square_root = true,
                     .min_number = 0.05};
  for (const ordered_json& head : layers[layer - 1])
    figure.maps.push_back(table_of(head, fmt::format("head {}", figure.maps.size() + 1)));
  return figure;
}

}  // namespace

std::vector<AttentionFigure> attention_figures(const ordered_json& sentence, AttentionKind kind,
                                               int64_t layer) {
  std::vector<AttentionFigure> figures;
  size_t max_layers = 0;
  for (const KindNames& names : kinds) {
    if (kind != AttentionKind::all && kind != names.kind) continue;
    const size_t layers = sentence["attention"][names.key].size();
    max_layers = std::max(max_layers, layers);
    for (size_t i = 1; i <= layers; ++i) {
      if (layer == 0 || static_cast<size_t>(layer) == i)
        figures.push_back({fmt::format("{}-{}", names.key, i), layer_figure(sentence, names, i)});
    }
  }
  if (max_layers == 0)
    throw Error(
        "--attention decoder: the decoder of this model has recurrent units instead of self-attention");
  if (figures.empty()) throw Error("--layer {}: the model has layers 1 to {}", layer, max_layers);
  return figures;
}

}  // namespace dragoman::internal
