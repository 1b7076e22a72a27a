#include "convert/ctranslate2/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dragoman::internal {
namespace {

using Pair = std::pair<const char*, const char*>;

constexpr std::array<Pair, 11> renamed_layers = {
    {{"shared_embedding.weight", "decoder/embeddings/weight"},
     {"source_embedding.weight", "encoder/embeddings_0/weight"},
     {"target_embedding.weight", "decoder/embeddings/weight"},
     {"generator.weight", "decoder/projection/weight"},
     {"generator.bias", "decoder/projection/bias"},
     {"encoder.position_bias", "encoder/layer_0/self_attention/relative_attention_bias"},
     {"decoder.position_bias", "decoder/layer_0/self_attention/relative_attention_bias"},
     {"encoder.positions", "encoder/position_encodings/encodings"},
     {"decoder.positions", "decoder/position_encodings/encodings"},
     {"source_positions.weight", "encoder/position_encodings/encodings"},
     {"target_positions.weight", "decoder/position_encodings/encodings"}}};

constexpr std::array<Pair, 16> pairs = {
    {{".layers.", "/layer_"},
     {".self_attention.qkv.", "/self_attention/linear_0/"},
     {".self_attention.output.", "/self_attention/linear_1/"},
     {".self_attention.norm.", "/self_attention/layer_norm/"},
     {".self_attention.distance_keys", "/self_attention/relative_position_keys"},
     {".self_attention.distance_values", "/self_attention/relative_position_values"},
     {".cross_attention.query.", "/attention/linear_0/"},
     {".cross_attention.key_value.", "/attention/linear_1/"},
     {".cross_attention.output.", "/attention/linear_2/"},
     {".cross_attention.norm.", "/attention/layer_norm/"},
     {".feed_forward.inner.", "/ffn/linear_0/"},
     {".feed_forward.value.", "/ffn/linear_0_noact/"},
     {".feed_forward.outer.", "/ffn/linear_1/"},
     {".feed_forward.norm.", "/ffn/layer_norm/"},
     {"coder.embedding_norm.", "coder/layernorm_embedding/"},
     {"coder.norm.", "coder/layer_norm/"}}};

}  // namespace

bool same(const ForeignTensor& a, const ForeignTensor& b) {
  return a.type == b.type && a.shape == b.shape && a.scales == b.scales && std::ranges::equal(a.data, b.data);
}

void replace_first(std::string& text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

std::string ctranslate2_name(const std::string& parameter) {
  for (const auto& [ours, theirs] : renamed_layers)
    if (parameter == ours) return theirs;
  std::string name = parameter;
  for (const auto& [ours, theirs] : pairs) replace_first(name, ours, theirs);
  for (const char* norm : {"layer_norm/", "layernorm_embedding/"}) {
    replace_first(name, std::string(norm) + "gain", std::string(norm) + "gamma");
    replace_first(name, std::string(norm) + "bias", std::string(norm) + "beta");
  }
  return name;
}

}  // namespace dragoman::internal
