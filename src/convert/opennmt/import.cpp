#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lines.h"
#include "convert/check_tensors.h"
#include "convert/fairseq/listed_tokens.h"
#include "convert/fairseq/names.h"
#include "convert/opennmt/common.h"
#include "convert/systems.h"
#include "convert/torch/file.h"
#include "convert/torch/options.h"

namespace dragoman::internal {
namespace {

const std::string source_table = "model.encoder.embeddings.make_embedding.emb_luts.0.weight",
                  target_table = "model.decoder.embeddings.make_embedding.emb_luts.0.weight";

// --- The options ------------------------------------------------------------------------------------

void check_opennmt(const TorchOptions& o) {
  for (const auto& [key, value] : {std::pair("encoder_type", "transformer"),
                                   {"decoder_type", "transformer"},
                                   {"generator_function", "softmax"}})
    o.require(key, std::string(value));
  for (const char* key :
       {"copy_attn", "parallel_residual", "shared_layer_norm", "multiquery", "num_kv", "n_src_feats"})
    o.require(key, false);
  if (o.integer("relative_positions_buckets", 0) > 0) o.refuse("relative_positions_buckets");
  if (o.integer("rotary_dim", 0) != 0) o.refuse("rotary_dim");
  if (o.text("self_attn_type", "scaled-dot").find("scaled-dot") != 0) o.refuse("self_attn_type");
}

// Its silu is gated as well.
bool is_gated(const TorchOptions& o) {
  const std::string name = o.text("pos_ffn_activation_fn", "relu");
  return name == "silu" || name.starts_with("gated-");
}

Activation opennmt_activation(const TorchOptions& o) {
  const std::string name = o.text("pos_ffn_activation_fn", "relu");
  for (const auto& [known, activation] : {std::pair("relu", Activation::relu),
                                          {"gelu", Activation::gelu},
                                          {"silu", Activation::swish},
                                          {"gated-gelu", Activation::gelu}})
    if (name == known) return activation;
  o.refuse("pos_ffn_activation_fn");
}

NormKind norm_kind_of(const TorchOptions& o) {
  const std::string name = o.text("layer_norm", "standard");
  if (name == "standard") return NormKind::layer;
  if (name == "rms") return NormKind::rms;
  o.refuse("layer_norm");
}

// max_relative_positions is a distance, or the number of another kind. Only embeddings with positions are multiplied by
// the root of their width.
void set_positions(const TorchOptions& o, ModelConfig& config) {
  constexpr int64_t rotary = -1, alibi = -2;
  const int64_t relative = o.integer("max_relative_positions", 0);
  config.relative_distance = std::max<int64_t>(relative, 0);
  const bool added = o.flag("position_encoding", true);
  if (relative < alibi || (added && relative < 0)) o.refuse("max_relative_positions");
  if (!added) {
    config.embedding_scale = 1;
    config.positions = relative == rotary  ? Positions::rotary
                       : relative == alibi ? Positions::alibi
                                           : Positions::none;
    if (relative == rotary) config.rotary_base = o.number("rotary_theta", default_base);
    return;
  }
  const std::string name = o.text("position_encoding_type", "SinusoidalInterleaved");
  if (name == "SinusoidalConcat") {
    config.positions = Positions::tensor2tensor;
  } else if (name != "SinusoidalInterleaved") {
    o.refuse("position_encoding_type");
  }
}

// Three names in as many versions; of the last two sides may differ.
int64_t layers_of(const TorchOptions& o, const char* own) { return o.integer(own, o.integer("layers", 6)); }

double dropout_of(const TorchOptions& o, const char* key, double otherwise) {
  const PickleValue* const value = o.find(key);
  if (value == nullptr) return otherwise;
  if (const auto steps = value->items(); !steps.empty()) return steps[0]->real().value_or(otherwise);
  return o.number(key, otherwise);
}

int64_t rows_of_table(const ForeignTensors& tensors, const std::string& path, const std::string& name,
                      size_t dimension) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw Error("{} has no tensor {}", path, name);
  if (found->second.shape.size() != 2)
    throw Error("{}: {} is {}, expected a matrix", path, name, describe(found->second));
  return found->second.shape[dimension];
}

bool has_generator_bias(const ForeignTensors& tensors) {
  return tensors.contains("generator.bias") || tensors.contains("generator.0.bias");
}

ModelConfig opennmt_config(const TorchOptions& o, const ForeignTensors& tensors) {
  const double dropout = dropout_of(o, "dropout", 0.1);
  ModelConfig config = {.encoder_layers = layers_of(o, "enc_layers"),
                        .decoder_layers = layers_of(o, "dec_layers"),
                        .d_model = rows_of_table(tensors, o.path(), source_table, 1),
                        .heads = o.integer("heads", opennmt_heads),
                        .d_ff = o.integer("transformer_ff", opennmt_d_ff),
                        .norm = NormOrder::pre,
                        .norm_kind = norm_kind_of(o),
                        .norm_eps = o.number("norm_eps", 1e-6),
                        .activation = opennmt_activation(o),
                        .gated = is_gated(o),
                        .dropout = dropout,
                        .attention_dropout = dropout_of(o, "attention_dropout", dropout),
                        .activation_dropout = dropout,
                        .embedding_dropout = dropout};
  set_positions(o, config);
  if (o.flag("share_decoder_embeddings")) config.tied = o.flag("share_embeddings") ? Tied::all : Tied::output;
  config.tied_bias = config.tied != Tied::none && has_generator_bias(tensors);
  return config;
}

// --- The vocabularies -------------------------------------------------------------------------------

// From a dict, or from a list of pairs as in the first versions.
const PickleValue* side_of(const PickleValue& vocabularies, std::string_view side) {
  if (const PickleValue* const own = vocabularies.find(side)) return own;
  for (const PickleValue* const pair : vocabularies.items())
    if (pair->items().size() == 2 && pair->items()[0]->text() == side) return pair->items()[1];
  return nullptr;
}

// A list of tokens; or somewhere in torchtext's objects the attribute "itos".
const PickleValue* token_list(const PickleValue& side) {
  if (!side.items().empty() && side.items()[0]->text()) return &side;
  std::deque<const PickleValue*> left = {&side};
  std::set<const PickleValue*> seen;
  for (; !left.empty(); left.pop_front()) {
    const PickleValue& value = *left.front();
    if (const PickleValue* const tokens = value.find("itos")) return tokens;
    const auto add = [&](const PickleValue* next) {
      if (next != nullptr && seen.insert(next).second) left.push_back(next);
    };
    for (const PickleValue* const item : value.items()) add(item);
    for (const auto& [key, entry] : value.entries()) add(entry);
    if (const PickleObject* const object = value.object()) add(object->state);
  }
  return nullptr;
}

// Versions 1 and 2 give a source vocabulary of its own no <s> and </s>, which no source has: <blank> stands for them.
const char* source_mark(const std::vector<std::string>& tokens, const char* usual) {
  return std::ranges::find(tokens, usual) != tokens.end() ? usual : "<blank>";
}

TokenTable read_tokens(const TorchFile& file, const std::string& path, std::string_view side,
                       const std::string& start) {
  const PickleValue* const vocabularies = file.pickle.root->find("vocab");
  const PickleValue* const own = vocabularies != nullptr ? side_of(*vocabularies, side) : nullptr;
  const PickleValue* const list = own != nullptr ? token_list(*own) : nullptr;
  if (list == nullptr) throw Error("{} has no vocabulary {}", path, side);
  std::vector<std::string> tokens;
  for (const PickleValue* const token : list->items()) {
    const auto text = token->text();
    if (!text || !is_text(*text))
      throw Error("{}: the vocabulary {} contains a token that is not a string", path, side);
    tokens.emplace_back(*text);
  }
  TokenNames names = {"<unk>", start.c_str(), "</s>", {"<blank>", "<s>"}};
  if (side == "src") {
    names.start = source_mark(tokens, names.start);
    names.end = source_mark(tokens, names.end);
  }
  return token_table(std::move(tokens), names, path);
}

std::string start_token(const TorchFile& file) {
  const PickleValue* const vocabularies = file.pickle.root->find("vocab");
  const PickleValue* const start =
      vocabularies != nullptr ? vocabularies->find("decoder_start_token") : nullptr;
  return start != nullptr && start->text() ? std::string(*start->text()) : "<s>";
}

// --- The weights ------------------------------------------------------------------------------------

std::string generator_name(const ForeignTensors& tensors, const char* leaf) {
  const std::string old = fmt::format("generator.0.{}", leaf);
  return tensors.contains(old) ? old : fmt::format("generator.{}", leaf);
}

std::vector<ForeignTensor> opennmt_tensors(const ForeignTensors& tensors, const std::string& path,
                                           const LayerStyle& style, const Parameter& parameter) {
  const std::string& name = parameter.name;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (name == "generator.bias") {
    if (!has_generator_bias(tensors)) return {zero_bias(columns)};
    return {as_row(tensor_of(tensors, path, generator_name(tensors, "bias"), {columns}))};
  }
  if (name == "generator.weight")
    return {tensor_of(tensors, path, generator_name(tensors, "weight"), {rows, columns})};
  if (name == "target_embedding.weight") return {tensor_of(tensors, path, target_table, {rows, columns})};
  if (name.ends_with("embedding.weight")) return {tensor_of(tensors, path, source_table, {rows, columns})};
  return opennmt_layer(tensors, path, style, parameter);
}

// Besides the embeddings: tables of positions, which are computed, and the masks of future tokens in old versions. A
// checkpoint has the optimizer's state as well.
bool can_ignore_in_opennmt(const std::string& name) {
  static const std::set<std::string, std::less<>> known = {
      source_table,       target_table,         "model.encoder.embeddings.make_embedding.pe.pe",
      "generator.weight", "generator.0.weight", "model.decoder.embeddings.make_embedding.pe.pe",
      "generator.bias",   "generator.0.bias"};
  const bool is_mask = name.starts_with("model.decoder.transformer_layers.") && name.ends_with(".mask");
  return known.contains(name) || is_mask || (!name.starts_with("model.") && !name.starts_with("generator."));
}

}  // namespace

bool is_opennmt(const std::string& source) {
  return checkpoint_has(source, [](const PickleValue& root) {
    return root.find("opt") != nullptr && root.find("vocab") != nullptr && root.find("generator") != nullptr;
  });
}

ImportedModel import_opennmt(const ImportRequest& request) {
  const std::string path = checkpoint_path(request.source);
  const auto file = std::make_shared<TorchFile>(open_torch(path));
  const TorchOptions options(path, {file->pickle.root->find("opt")});
  check_opennmt(options);
  ImportedModel model = {
      .system = "OpenNMT-py", .config = opennmt_config(options, file->tensors), .source_eos = false};
  const TokenTable source = read_tokens(*file, path, "src", "<s>"),
                   target = read_tokens(*file, path, "tgt", start_token(*file));
  model.vocabularies = listed_vocabularies(
      source, target, vocabulary_files(request, std::filesystem::path(path).parent_path().string()), path);
  model.config.source_vocabulary = std::ssize(source.tokens);
  model.config.target_vocabulary = std::ssize(target.tokens);
  check_rows(rows_of_table(file->tensors, path, source_table, 0), source, source_table, path);
  check_rows(rows_of_table(file->tensors, path, target_table, 0), target, target_table, path);
  model.search = opennmt_search();
  model.choices = {described_positions(model.config),
                   fmt::format("the decoder begins with {}; the source has no end mark", start_token(*file)),
                   "beam 5, scores divided by the length: OpenNMT-py's defaults"};
  LayerStyle style = {.toolkit = Toolkit::opennmt};
  if (model.config.positions == Positions::rotary && options.flag("rotary_interleave", true)) {
    style.encoder_heads = model.config.heads;
    style.decoder_heads = decoder_heads(model.config);
  }
  model.tensors_of = [file, path, style](const Parameter& parameter) {
    return opennmt_tensors(file->tensors, path, style, parameter);
  };
  const auto names_of = [](const std::string& parameter) {
    return opennmt_names(Toolkit::opennmt, parameter);
  };
  check_tensors(model, path, file->tensors, {.of = names_of, .can_ignore = can_ignore_in_opennmt});
  return model;
}

}  // namespace dragoman::internal
