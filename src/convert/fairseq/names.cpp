#include "convert/fairseq/names.h"

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// Parts of names, ours and theirs.
const std::vector<std::pair<std::string, std::vector<std::string>>>& name_pairs() {
  static const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {".self_attention.qkv.", {".self_attn.q_proj.", ".self_attn.k_proj.", ".self_attn.v_proj."}},
      {".self_attention.output.", {".self_attn.out_proj."}},
      {".self_attention.norm.", {".self_attn_layer_norm."}},
      {".cross_attention.query.", {".encoder_attn.q_proj."}},
      {".cross_attention.key_value.", {".encoder_attn.k_proj.", ".encoder_attn.v_proj."}},
      {".cross_attention.output.", {".encoder_attn.out_proj."}},
      {".cross_attention.norm.", {".encoder_attn_layer_norm."}},
      {".feed_forward.inner.", {".fc1."}},
      {".feed_forward.outer.", {".fc2."}},
      {".feed_forward.norm.", {".final_layer_norm."}},
      {".embedding_norm.", {".layernorm_embedding."}},
      {"coder.norm.", {"coder.layer_norm."}}};
  return all;
}

}  // namespace

std::vector<std::string> fairseq_names(const std::string& parameter) {
  for (const auto& [ours, theirs] : name_pairs()) {
    const size_t at = parameter.find(ours);
    if (at == std::string::npos) continue;
    std::string rest = parameter.substr(at + ours.size());
    if (rest == "gain") rest = "weight";  // of a norm
    std::vector<std::string> names;
    for (const std::string& name : theirs) names.push_back(parameter.substr(0, at) + name + rest);
    return names;
  }
  return {};
}

bool is_embedding_or_buffer(const std::string& name) {
  using Names = std::set<std::string_view>;
  static const Names outside = {"final_logits_bias", "lm_head.weight", "model.shared.weight",
                                "model.decoder.output_projection.weight", "model.decoder.embed_out"},
                     in_stacks = {"embed_tokens.weight", "embed_positions.weights",
                                  "embed_positions._float_tensor", "version"};
  for (const std::string_view stack : {"model.encoder.", "model.decoder."})
    if (name.starts_with(stack) && in_stacks.contains(std::string_view(name).substr(stack.size())))
      return true;
  return outside.contains(name);
}

const ForeignTensor& tensor_of(const ForeignTensors& tensors, const std::string& path,
                               const std::string& name, const std::vector<int64_t>& shape) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw Error("{} has no tensor {}", path, name);
  if (found->second.shape != shape) {
    throw Error("{}: {} is {}, but its configuration specifies [{}]", path, name, describe(found->second),
                fmt::join(shape, ", "));
  }
  return found->second;
}

std::vector<ForeignTensor> layer_parts(const ForeignTensors& tensors, const std::string& path,
                                       const std::string& prefix, const Parameter& parameter) {
  const std::vector<std::string> names = fairseq_names(parameter.name);
  CHECK(!names.empty(), "{}", parameter.name);
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns() / std::ssize(names);
  std::vector<ForeignTensor> parts;
  for (const std::string& name : names) {
    parts.push_back(rows > 1 ? transposed(tensor_of(tensors, path, prefix + name, {columns, rows}))
                             : as_row(tensor_of(tensors, path, prefix + name, {columns})));
  }
  return parts;
}

}  // namespace dragoman::internal
