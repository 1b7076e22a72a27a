#include "report/attention_figure.h"

#include <fmt/format.h>

#include "base/error.h"

namespace dragoman {
namespace {

using nlohmann::ordered_json;

// Names of the inspection, and words of the figure.
struct PartNames {
  const char *part, *title, *queries, *keys;
};

PartNames names_of(AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return {"encoder", "Encoder self-attention", "source_tokens", "source_tokens"};
    case AttentionPart::decoder:
      return {"decoder", "Decoder self-attention", "read_tokens", "read_tokens"};
    case AttentionPart::cross:
      return {"cross", "Attention to the source", "said_tokens", "source_tokens"};
  }
  return {};
}

HeatMap table_of(const ordered_json& head, const std::string& title) {
  HeatMap map = {.title = title, .rows = std::ssize(head), .columns = std::ssize(head[0]), .values = {}};
  for (const ordered_json& row : head) {
    for (const ordered_json& weight : row) map.values.push_back(weight);
  }
  return map;
}

}  // namespace

HeatMaps attention_figure(const ordered_json& sentence, AttentionPart part, int64_t layer) {
  const PartNames names = names_of(part);
  const ordered_json& layers = sentence["attention"][names.part];
  if (layer < 1 || layer > std::ssize(layers))
    throw Error("--layer {}: the model's layers are 1 to {}", layer, layers.size());
  HeatMaps figure = {.title = fmt::format("{}, layer {} of {}", names.title, layer, layers.size()),
                     .x_title = "",
                     .y_title = "",
                     .least = 0,
                     .most = 1,
                     .maps = {},
                     .row_names = sentence[names.queries],
                     .column_names = sentence[names.keys]};
  for (const ordered_json& head : layers[static_cast<size_t>(layer - 1)])
    figure.maps.push_back(table_of(head, fmt::format("head {}", figure.maps.size() + 1)));
  return figure;
}

}  // namespace dragoman
