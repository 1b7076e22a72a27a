#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lines.h"
#include "convert/check_tensors.h"
#include "convert/fairseq/listed_tokens.h"
#include "convert/fairseq/names.h"
#include "convert/systems.h"
#include "convert/torch/file.h"
#include "convert/torch/options.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr int64_t fairseq_first_position = 2;  // of a sentence: the rows before belong to padding

// --- The options ------------------------------------------------------------------------------------

// Those of the model and of the task: in one Namespace, or since 2020 in parts of a dict.
TorchOptions options_of(const TorchFile& file, const std::string& path) {
  const PickleValue* const args = file.pickle.root->find("args");
  const PickleValue* const cfg = file.pickle.root->find("cfg");
  if (cfg == nullptr || cfg->as<std::monostate>() != nullptr) return {path, {args}};
  return {path, {cfg->find("model"), cfg->find("task")}};
}

void check_fairseq(const TorchOptions& o) {
  for (const char* key :
       {"cross_self_attention", "no_cross_attention", "no_token_positional_embeddings", "adaptive_input",
        "no_decoder_final_norm", "moe_freq", "scale_attn", "scale_fc", "scale_heads", "scale_resids"})
    o.require(key, false);
  for (const char* key : {"adaptive_softmax_cutoff", "encoder_layers_to_keep", "decoder_layers_to_keep"})
    if (o.find(key) != nullptr) o.refuse(key);
  for (const auto& [key, other] : {std::pair("decoder_embed_dim", "encoder_embed_dim"),
                                   {"decoder_output_dim", "decoder_embed_dim"},
                                   {"decoder_input_dim", "decoder_embed_dim"},
                                   {"decoder_normalize_before", "encoder_normalize_before"},
                                   {"decoder_learned_pos", "encoder_learned_pos"}})
    if (o.find(key) != nullptr && o.find(other) != nullptr && o.integer(key) != o.integer(other))
      o.refuse(key);
}

Activation fairseq_activation(const TorchOptions& o) {
  const std::string name = o.text("activation_fn", "relu");
  for (const auto& [known, activation] : {std::pair("relu", Activation::relu),
                                          {"gelu", Activation::gelu},
                                          {"gelu_fast", Activation::gelu_tanh},
                                          {"gelu_accurate", Activation::gelu_tanh},
                                          {"swish", Activation::swish}})
    if (name == known) return activation;
  o.refuse("activation_fn");
}

Tied fairseq_tied(const TorchOptions& o) {
  if (o.flag("share_all_embeddings")) return Tied::all;
  return o.flag("share_decoder_input_output_embed") ? Tied::output : Tied::none;
}

ModelConfig fairseq_config(const TorchOptions& o) {
  ModelConfig config = {.encoder_layers = o.integer("encoder_layers"),
                        .decoder_layers = o.integer("decoder_layers"),
                        .d_model = o.integer("encoder_embed_dim"),
                        .heads = o.integer("encoder_attention_heads"),
                        .d_ff = o.integer("encoder_ffn_embed_dim"),
                        .decoder_heads = o.integer("decoder_attention_heads"),
                        .decoder_d_ff = o.integer("decoder_ffn_embed_dim"),
                        .norm = o.flag("encoder_normalize_before") ? NormOrder::pre : NormOrder::post,
                        .norm_eps = 1e-5,
                        .activation = fairseq_activation(o),
                        .positions = Positions::tensor2tensor,
                        .position_offset = fairseq_first_position,
                        .tied = fairseq_tied(o),
                        .dropout = o.number("dropout", 0.1),
                        .attention_dropout = o.number("attention_dropout", 0),
                        .activation_dropout = o.number("activation_dropout", o.number("relu_dropout", 0))};
  config.embedding_dropout = config.dropout;
  config.embedding_scale = o.flag("no_scale_embedding") ? 1 : 0;
  config.embedding_norm = o.flag("layernorm_embedding");
  if (o.flag("encoder_learned_pos")) {
    config.positions = Positions::learned;
    config.position_offset = 0;
    config.max_positions =
        std::min(o.integer("max_source_positions", 1024), o.integer("max_target_positions", 1024));
  }
  return config;
}

// --- The vocabularies -------------------------------------------------------------------------------

// A token and its count per line, the most frequent first.
TokenTable read_dictionary(const std::string& path) {
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>"};
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    constexpr std::string_view overwrite = " #fairseq:overwrite";
    if (line.ends_with(overwrite)) line.remove_suffix(overwrite.size());
    const size_t space = line.rfind(' ');
    if (space == line.npos || space == 0 || !is_text(line))
      throw Error("{}:{}: expected a token and its count", path, lines.number());
    tokens.emplace_back(line.substr(0, space));
  }
  return token_table(std::move(tokens), {"<unk>", "</s>", "</s>", {"<s>", "<pad>"}}, path);
}

std::string dictionary_of_side(const VocabularyFiles& files, const TorchOptions& o, const std::string& folder,
                               size_t side) {
  if (!files.lists.empty()) return files.lists[std::min(side, files.lists.size() - 1)];
  const char* const key = side == 0 ? "source_lang" : "target_lang";
  const std::string language = o.text(key, "");
  if (language.empty() || language.find('/') != language.npos)
    throw Error("{} does not specify {}: name the dictionary, a .txt file, with --vocab", o.path(), key);
  const std::string path = (fs::path(folder) / ("dict." + language + ".txt")).string();
  if (!fs::exists(path)) throw Error("{} does not exist: name the dictionary with --vocab", path);
  return path;
}

// --- The weights ------------------------------------------------------------------------------------

const std::string fairseq_prefix = "model.", fairseq_bias = "model.decoder.output_projection.bias";

// Of a tensor's names in several versions, the one that is there; the newest if none is.
std::string name_among(const ForeignTensors& tensors, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (tensors.contains(fairseq_prefix + name)) return fairseq_prefix + name;
  return fairseq_prefix + names[0];
}

// What a norm was called before 2019.
std::string old_norm(std::string name) {
  const bool decoder = name.starts_with("decoder");
  for (const auto& [today, number] : {std::pair("self_attn_layer_norm", "0"),
                                      {"encoder_attn_layer_norm", "1"},
                                      {"final_layer_norm", decoder ? "2" : "1"}}) {
    const size_t at = name.find(today);
    if (at != name.npos)
      return name.replace(at, std::string_view(today).size(), fmt::format("layer_norms.{}", number));
  }
  return name;
}

// Queries, keys and values were one matrix then, of which each is a third.
struct Third {
  std::string matrix;
  int64_t part;
};

std::optional<Third> old_third(const std::string& name) {
  constexpr std::string_view projections[] = {"q_proj.", "k_proj.", "v_proj."};
  for (int64_t part = 0; part < 3; ++part)
    if (const size_t at = name.find(projections[part]); at != name.npos)
      return Third{name.substr(0, at) + "in_proj_" + name.substr(at + 7), part};
  return {};
}

class Layers {
 public:
  Layers(const ForeignTensors& tensors, const std::string& path, int64_t width)
      : tensors_(tensors), path_(path), width_(width) {}

  std::vector<ForeignTensor> tensors_of(const Parameter& parameter) const {
    std::vector<ForeignTensor> found;
    const std::vector<std::string> names = fairseq_names(parameter.name);
    CHECK(!names.empty(), "{}", parameter.name);
    const int64_t rows = parameter.value.rows(), columns = parameter.value.columns() / std::ssize(names);
    for (const std::string& name : names)
      found.push_back(rows > 1 ? transposed(tensor(name, {columns, rows})) : as_row(tensor(name, {columns})));
    return found;
  }

 private:
  ForeignTensor tensor(const std::string& name, const std::vector<int64_t>& shape) const {
    if (tensors_.contains(fairseq_prefix + name))
      return tensor_of(tensors_, path_, fairseq_prefix + name, shape);
    if (const auto old = old_third(name)) return third(*old, shape);
    return tensor_of(tensors_, path_, fairseq_prefix + old_norm(name), shape);
  }

  ForeignTensor third(const Third& old, std::vector<int64_t> shape) const {
    shape[0] *= 3;
    ForeignTensor all = tensor_of(tensors_, path_, fairseq_prefix + old.matrix, shape);
    if (shape.size() > 1) return rows_of(all, old.part * width_, width_);
    all.shape = {shape[0], 1};
    all.strides.push_back(1);
    ForeignTensor own = rows_of(all, old.part * width_, width_);
    own.shape.pop_back();
    own.strides.pop_back();
    return own;
  }

  const ForeignTensors& tensors_;
  const std::string& path_;
  int64_t width_;
};

std::string table_of_positions(const std::string& parameter) {
  return fmt::format("model.{}.embed_positions.weight",
                     parameter.starts_with("source") ? "encoder" : "decoder");
}

std::vector<ForeignTensor> fairseq_tensors(const ForeignTensors& tensors, const std::string& path,
                                           const ModelConfig& config, const Parameter& parameter) {
  const std::string& name = parameter.name;
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  const auto tensor = [&](const std::vector<std::string>& names) {
    return std::vector{tensor_of(tensors, path, name_among(tensors, names), {rows, columns})};
  };
  if (name == "shared_embedding.weight" || name == "source_embedding.weight")
    return tensor({"encoder.embed_tokens.weight"});
  if (name == "target_embedding.weight") return tensor({"decoder.embed_tokens.weight"});
  if (name == "generator.weight") return tensor({"decoder.output_projection.weight", "decoder.embed_out"});
  if (name == "generator.bias") {
    if (tensors.contains(fairseq_bias)) return {as_row(tensor_of(tensors, path, fairseq_bias, {columns}))};
    return {zero_bias(columns)};
  }
  if (name.ends_with("_positions.weight")) {
    const std::string table = table_of_positions(name);
    const auto found = tensors.find(table);
    const int64_t all =
        found != tensors.end() && found->second.shape.size() == 2 ? found->second.shape[0] : 0;
    const auto whole =
        tensor_of(tensors, path, table, {std::max(all, rows + fairseq_first_position), columns});
    return {rows_of(whole, fairseq_first_position, rows)};
  }
  return Layers(tensors, path, config.d_model).tensors_of(parameter);
}

// In any version.
std::vector<std::string> fairseq_tensor_names(const std::string& parameter) {
  if (parameter == "generator.bias") return {fairseq_bias};
  if (parameter.ends_with("_positions.weight")) return {table_of_positions(parameter)};
  std::vector<std::string> names;
  for (const std::string& name : fairseq_names(parameter)) {
    names.push_back(fairseq_prefix + name);
    names.push_back(fairseq_prefix + old_norm(name));
    if (const auto old = old_third(name)) names.push_back(fairseq_prefix + old->matrix);
  }
  return names;
}

// A checkpoint has the optimizer's state as well.
bool can_ignore_in_fairseq(const std::string& name) {
  return !name.starts_with(fairseq_prefix) || is_embedding_or_buffer(name);
}

std::vector<std::string> fairseq_choices(const ImportedModel& model) {
  const ModelConfig& config = model.config;
  return {config.positions == Positions::learned
              ? fmt::format("positions: learned, for {} tokens", config.max_positions)
              : "positions: tensor2tensor's, from 2",
          fmt::format("{}-norm; beam 5, scores divided by the length: fairseq's defaults",
                      config.norm == NormOrder::pre ? "pre" : "post")};
}

}  // namespace

bool is_fairseq(const std::string& source) {
  return checkpoint_has(source, [](const PickleValue& root) {
    const bool has_options = root.find("args") != nullptr || root.find("cfg") != nullptr;
    return has_options && root.find("model") != nullptr && root.find("generator") == nullptr;
  });
}

ImportedModel import_fairseq(const ImportRequest& request) {
  const std::string path = checkpoint_path(request.source), folder = fs::path(path).parent_path().string();
  const auto file = std::make_shared<TorchFile>(open_torch(path));
  const TorchOptions options = options_of(*file, path);
  check_fairseq(options);
  ImportedModel model = {.system = "fairseq", .config = fairseq_config(options)};
  const VocabularyFiles files = vocabulary_files(request, folder);
  const TokenTable source = read_dictionary(dictionary_of_side(files, options, folder, 0)),
                   target = read_dictionary(dictionary_of_side(files, options, folder, 1));
  model.vocabularies = listed_vocabularies(source, target, files, path);
  model.config.source_vocabulary = std::ssize(source.tokens);
  model.config.target_vocabulary = std::ssize(target.tokens);
  model.config.tied_bias = model.config.tied != Tied::none && file->tensors.contains(fairseq_bias);
  model.max_length = std::max<int64_t>(1, options.integer("max_source_positions", 1024) - 1);
  model.search = {
      {"beam", 5},       {"beam-ending", "first"}, {"length-penalty", 1},  {"penalty-form", "plain"},
      {"min-length", 1}, {"max-length", 200},      {"max-length-ratio", 0}};
  model.source_language = options.text("source_lang", "");
  model.choices = fairseq_choices(model);
  model.tensors_of = [file, path, config = model.config](const Parameter& parameter) {
    return fairseq_tensors(file->tensors, path, config, parameter);
  };
  check_tensors(model, path, file->tensors,
                {.of = fairseq_tensor_names, .can_ignore = can_ignore_in_fairseq});
  return model;
}

}  // namespace dragoman::internal
