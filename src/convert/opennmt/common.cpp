#include "convert/opennmt/common.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "convert/fairseq/names.h"

namespace dragoman::internal {
namespace {

struct PartNames {
  const char* ours;                           // a part of the name
  std::vector<std::string> encoder, decoder;  // OpenNMT-py's
  std::vector<std::string> eole;
};

const std::vector<PartNames>& part_names() {
  using Names = std::vector<std::string>;
  static const Names qkv = {"self_attn.linear_query", "self_attn.linear_keys", "self_attn.linear_values"},
                     key_value = {"context_attn.linear_keys", "context_attn.linear_values"};
  const auto everywhere = [](const char* ours, const Names& theirs) {
    return PartNames{ours, theirs, theirs, theirs};
  };
  static const std::vector<PartNames> all = {
      everywhere("self_attention.qkv", qkv),
      everywhere("self_attention.distance_keys", {"self_attn.relative_positions_embeddings"}),
      everywhere("self_attention.distance_values", {"self_attn.relative_positions_embeddings"}),
      everywhere("self_attention.output", {"self_attn.final_linear"}),
      {"self_attention.norm", {"layer_norm"}, {"layer_norm_1"}, {"input_layernorm"}},
      everywhere("cross_attention.query", {"context_attn.linear_query"}),
      everywhere("cross_attention.key_value", key_value),
      everywhere("cross_attention.output", {"context_attn.final_linear"}),
      {"cross_attention.norm", {}, {"layer_norm_2"}, {"precontext_layernorm"}},
      {"feed_forward.inner", {"feed_forward.w_1"}, {"feed_forward.w_1"}, {"mlp.gate_up_proj"}},
      {"feed_forward.value", {"feed_forward.w_3"}, {"feed_forward.w_3"}, {"mlp.up_proj"}},
      {"feed_forward.outer", {"feed_forward.w_2"}, {"feed_forward.w_2"}, {"mlp.down_proj"}},
      {"feed_forward.norm",
       {"feed_forward.layer_norm"},
       {"feed_forward.layer_norm"},
       {"post_attention_layernorm"}}};
  return all;
}

struct Name {
  std::string stack, layer, part, leaf;  // "encoder", "0", "self_attention.qkv", "weight"
};

Name split(const std::string& parameter) {
  const std::string stack = parameter.substr(0, 7), leaf = parameter.substr(parameter.rfind('.') + 1);
  const std::string middle = parameter.substr(8, parameter.size() - leaf.size() - 9);
  if (!middle.starts_with("layers.")) return {stack, "", middle, leaf};
  const size_t dot = middle.find('.', 7);
  const std::string layer = middle.substr(7, dot - 7), part = middle.substr(dot + 1);
  if (leaf.starts_with("distance_")) return {stack, layer, part + "." + leaf, "weight"};
  return {stack, layer, part, leaf};
}

std::vector<std::string> theirs(const Name& name, Toolkit toolkit) {
  if (name.layer.empty()) return {name.stack + ".layer_norm"};
  const bool encoder = name.stack == "encoder", eole = toolkit == Toolkit::eole;
  const std::string layers = name.stack + (encoder && !eole ? ".transformer." : ".transformer_layers.");
  std::vector<std::string> names;
  for (const PartNames& part : part_names()) {
    if (name.part != part.ours) continue;
    for (const std::string& one : eole ? part.eole : encoder ? part.encoder : part.decoder)
      names.push_back(layers + name.layer + "." + one);
  }
  CHECK(!names.empty(), "{}.{}", name.stack, name.part);
  return names;
}

// Of each head's rows the first of each pair, then the second ones.
ForeignTensor halves_of_heads(const ForeignTensor& tensor, int64_t width) {
  const std::vector<float> values = to_floats(tensor);
  const int64_t rows = tensor.shape[0], columns = std::ssize(values) / rows, half = width / 2;
  std::vector<float> moved(values.size());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row - row % width, i = row % width;
    const int64_t from = head + (i < half ? 2 * i : 2 * (i - half) + 1);
    std::copy_n(values.begin() + from * columns, columns, moved.begin() + row * columns);
  }
  return from_floats(std::move(moved), tensor.shape);
}

std::string prefix_of(Toolkit toolkit) { return toolkit == Toolkit::eole ? "" : "model."; }

// Today's name and that of the first versions, whose norms had names of their own.
std::array<std::string, 2> with_leaf(const std::string& name, const std::string& leaf) {
  if (leaf == "gain") return {name + ".weight", name + ".a_2"};
  return {name + "." + leaf, name + ".b_2"};
}

std::string newest_among(const ForeignTensors& tensors, const std::array<std::string, 2>& names) {
  const auto& [today, old] = names;
  return !tensors.contains(today) && tensors.contains(old) ? old : today;
}

}  // namespace

nlohmann::json opennmt_search() {
  return {{"beam", 5},          {"beam-ending", "top"}, {"length-penalty", 1},  {"penalty-form", "plain"},
          {"length-offset", 1}, {"max-length", 250},    {"max-length-ratio", 0}};
}

std::string described_positions(const ModelConfig& config) {
  const std::string beside =
      config.relative_distance > 0
          ? fmt::format("distances up to {} in each attention", config.relative_distance)
          : "";
  const auto with = [&](const char* what) {
    return fmt::format("positions: {}{}{}", what, beside.empty() ? "" : "; ", beside);
  };
  switch (config.positions) {
    case Positions::sinusoidal:
      return with("sines and cosines in turn, from 0");
    case Positions::rotary:
      return with("rotary");
    case Positions::alibi:
      return with("ALiBi");
    case Positions::none:
      return "positions: " + beside;
    default:
      return with("sines, then cosines, from 0");
  }
}

std::vector<std::string> opennmt_names(Toolkit toolkit, const std::string& parameter) {
  if (!parameter.starts_with("encoder.") && !parameter.starts_with("decoder.")) return {};
  const Name name = split(parameter);
  std::vector<std::string> names;
  for (const std::string& one : theirs(name, toolkit))
    for (const std::string& full : with_leaf(prefix_of(toolkit) + one, name.leaf)) names.push_back(full);
  return names;
}

std::vector<ForeignTensor> opennmt_layer(const ForeignTensors& tensors, const std::string& path,
                                         const LayerStyle& style, const Parameter& parameter) {
  const Name name = split(parameter.name);
  const std::vector<std::string> names = theirs(name, style.toolkit);
  const std::string prefix = prefix_of(style.toolkit);
  const int64_t heads = name.stack == "encoder" ? style.encoder_heads : style.decoder_heads;
  const bool is_distance = name.part.find(".distance_") != std::string::npos;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns() / std::ssize(names);
  std::vector<ForeignTensor> parts;
  for (const std::string& one : names) {
    const std::string tensor = newest_among(tensors, with_leaf(prefix + one, name.leaf));
    const bool is_norm = name.part.ends_with("norm"),
               is_rotated = heads > 0 && (one.ends_with("self_attn.linear_query") ||
                                          one.ends_with("self_attn.linear_keys"));
    if (is_distance) {
      const ForeignTensor& vectors = tensor_of(tensors, path, tensor, {rows, columns});
      // eole divides the products of queries and keys by the root of their width, but not those with these.
      const bool unscaled = style.toolkit == Toolkit::eole && name.part.ends_with("keys");
      parts.push_back(unscaled ? scaled(vectors, std::sqrt(static_cast<double>(columns))) : vectors);
    } else if (rows > 1 && is_rotated) {
      parts.push_back(
          transposed(halves_of_heads(tensor_of(tensors, path, tensor, {columns, rows}), columns / heads)));
    } else if (rows > 1) {
      parts.push_back(transposed(tensor_of(tensors, path, tensor, {columns, rows})));
    } else if (name.leaf == "bias" && !is_norm && !tensors.contains(tensor)) {
      parts.push_back(zero_bias(columns));
    } else {
      const ForeignTensor& row = tensor_of(tensors, path, tensor, {columns});
      parts.push_back(as_row(is_rotated ? halves_of_heads(row, columns / heads) : row));
    }
  }
  return parts;
}

}  // namespace dragoman::internal
