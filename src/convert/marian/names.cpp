#include "convert/marian/names.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "convert/fairseq/names.h"

namespace dragoman::internal {
namespace {

// What is in a layer, ours and theirs; {} stands for W or b.
struct Products {
  std::string_view ours;
  std::vector<const char*> theirs;
};
const std::vector<Products>& products_in_layers() {
  static const std::vector<Products> all = {{"self_attention.qkv", {"self_{}q", "self_{}k", "self_{}v"}},
                                            {"self_attention.output", {"self_{}o"}},
                                            {"cross_attention.query", {"context_{}q"}},
                                            {"cross_attention.key_value", {"context_{}k", "context_{}v"}},
                                            {"cross_attention.output", {"context_{}o"}},
                                            {"feed_forward.inner", {"ffn_{}1"}},
                                            {"feed_forward.outer", {"ffn_{}2"}}};
  return all;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> norms = {
    {{"self_attention.norm", "self_Wo"},
     {"cross_attention.norm", "context_Wo"},
     {"feed_forward.norm", "ffn_ffn"}}};

constexpr const char* untransposed_generator = "decoder_ff_logit_out_W";

struct LayerName {
  std::string prefix;             // "encoder_l1_"
  std::string_view layer, value;  // "self_attention.qkv", "weight"
};

// "encoder.layers.0.self_attention.qkv.weight". Theirs are counted from 1.
LayerName parse(std::string_view name) {
  constexpr std::string_view layers = ".layers.";
  const size_t at = name.find(layers), value = name.rfind('.');
  CHECK(at != name.npos, "{}", name);
  const std::string_view rest = name.substr(at + layers.size());
  int number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  const size_t begin = at + layers.size() + rest.find('.') + 1;
  return {fmt::format("{}_l{}_", name.substr(0, at), number + 1), name.substr(begin, value - begin),
          name.substr(value + 1)};
}

// A norm before its sublayer has a name that ends with "_pre".
std::string norm_in_layer(const LayerName& name, std::string_view sublayer, bool is_pre) {
  return fmt::format("{}{}_ln_{}{}", name.prefix, sublayer, name.value == "gain" ? "scale" : "bias",
                     is_pre ? "_pre" : "");
}

std::vector<std::string> names_in_layer(NormOrder norm, const std::string& parameter) {
  const LayerName name = parse(parameter);
  const bool is_pre = norm == NormOrder::pre;
  for (const auto& [ours, theirs] : norms)
    if (name.layer == ours) return {norm_in_layer(name, theirs, is_pre)};
  if (name.layer == "ssru.norm") return {norm_in_layer(name, is_pre ? "rnn" : "rnn_ffn", is_pre)};
  const bool is_matrix = name.value == "weight";
  if (name.layer == "ssru.gate_and_input")  // without a bias of the input
    return is_matrix ? std::vector{name.prefix + "rnn_Wf", name.prefix + "rnn_W"}
                     : std::vector{name.prefix + "rnn_bf"};
  for (const auto& [ours, theirs] : products_in_layers()) {
    if (name.layer != ours) continue;
    std::vector<std::string> names;
    for (const char* their : theirs)
      names.push_back(name.prefix + fmt::format(fmt::runtime(their), is_matrix ? "W" : "b"));
    return names;
  }
  CHECK(false, "{}", parameter);
  return {};
}

}  // namespace

std::vector<std::string> marian_names(const MarianNaming& naming, const std::string& parameter) {
  const bool is_target = parameter.starts_with("target") || parameter.starts_with("decoder");
  const std::string stack = is_target ? "decoder" : "encoder";
  if (parameter.ends_with("embedding.weight")) return {naming.shared_embeddings ? "Wemb" : stack + "_Wemb"};
  if (parameter == "generator.weight")
    return {naming.untransposed_generator ? untransposed_generator : "decoder_ff_logit_out_Wt"};
  if (parameter == "generator.bias") return {"decoder_ff_logit_out_b"};
  if (parameter.starts_with(stack + ".norm."))
    return {fmt::format("{}_top_ln_{}", stack, parameter.ends_with("gain") ? "scale" : "bias")};
  if (parameter.starts_with(stack + ".embedding_norm."))
    return {fmt::format("{}_emb_ln_{}_pre", stack, parameter.ends_with("gain") ? "scale" : "bias")};
  return names_in_layer(naming.norm, parameter);
}

std::vector<ForeignTensor> marian_tensors(const MarianModel& model, const Parameter& parameter) {
  const std::vector<std::string> names = marian_names(model.naming, parameter.name);
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  const auto tensor = [&](const std::string& name, int64_t r, int64_t c) {
    return tensor_of(model.file.tensors, model.path, name, {r, c});
  };
  if (names[0] == untransposed_generator) return {transposed(tensor(names[0], columns, rows))};
  if (parameter.name.ends_with("gate_and_input.bias"))
    return {tensor(names[0], 1, columns / 2), zero_bias(columns / 2)};
  std::vector<ForeignTensor> parts;
  for (const std::string& name : names) parts.push_back(tensor(name, rows, columns / std::ssize(names)));
  return parts;
}

}  // namespace dragoman::internal
