#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/quotes.h"
#include "convert/check_tensors.h"
#include "convert/fairseq/names.h"
#include "convert/huggingface/folder.h"
#include "convert/systems.h"
#include "text/byte_vocabulary.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char *t5_pieces_file = "spiece.model", *language_begin = "<2";

// "relu", "gated-gelu": the first half is the kind of layer, the second its activation.
struct FeedForwardKind {
  Activation activation;
  bool gated;
};

FeedForwardKind feed_forward_kind(const Settings& settings) {
  const std::string name = settings.text("feed_forward_proj", "relu");
  for (const auto& [known, kind] :
       {std::pair("relu", FeedForwardKind{Activation::relu, false}),
        {"gelu", FeedForwardKind{Activation::gelu, false}},
        {"gelu_new", FeedForwardKind{Activation::gelu_tanh, false}},
        {"silu", FeedForwardKind{Activation::swish, false}},
        {"gated-relu", FeedForwardKind{Activation::relu, true}},
        {"gated-gelu", FeedForwardKind{Activation::gelu_tanh, true}},  // gelu_new, whatever the name says
        {"gated-gelu_new", FeedForwardKind{Activation::gelu_tanh, true}},
        {"gated-silu", FeedForwardKind{Activation::swish, true}}}) {
    if (name == known) return kind;
  }
  throw Error("{}: feed_forward_proj {} is not supported", settings.path(), in_quotes(name));
}

// The first models multiply what leaves the decoder by d_model^-0.5; those whose generator is a matrix of its own do
// not. transformers 5 says it by a key of its own, and that all models are tied, whatever their weights are.
bool scales_output(const Settings& settings) {
  const bool is_first = settings.text("model_type", "") == "t5" && settings.flag("tie_word_embeddings", true);
  return settings.flag("scale_decoder_outputs", is_first);
}

bool has_own_generator(const ForeignTensors& tensors, const ForeignTensor& embedding) {
  const auto found = tensors.find("lm_head.weight");
  if (found == tensors.end()) return false;
  const ForeignTensor& own = found->second;
  return own.type != embedding.type || own.shape != embedding.shape || own.strides != embedding.strides ||
         !std::ranges::equal(own.data, embedding.data);
}

const ForeignTensor& embedding_of(const ForeignTensors& tensors, const std::string& path) {
  for (const char* name : {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (const auto found = tensors.find(name); found != tensors.end()) return found->second;
  throw Error("{} has no tensor shared.weight", path);
}

ModelConfig t5_config(const Settings& s, const ForeignTensors& tensors, const std::string& path) {
  const auto [activation, gated] = feed_forward_kind(s);
  const ForeignTensor& embedding = embedding_of(tensors, path);
  const double dropout = s.number("dropout_rate", 0.1);
  const int64_t layers = s.integer("num_layers", 6);
  ModelConfig config = {.encoder_layers = layers,
                        .decoder_layers = s.integer("num_decoder_layers", layers),
                        .d_model = s.integer("d_model", 512),
                        .heads = s.integer("num_heads", 8),
                        .d_ff = s.integer("d_ff", 2048),
                        .head_width = s.integer("d_kv", 64),
                        .norm = NormOrder::pre,
                        .norm_kind = NormKind::rms,
                        .norm_eps = s.number("layer_norm_epsilon", 1e-6),
                        .activation = activation,
                        .gated = gated,
                        .positions = Positions::t5,
                        .position_buckets = s.integer("relative_attention_num_buckets", 32),
                        .max_distance = s.integer("relative_attention_max_distance", 128),
                        .embedding_scale = 1,
                        .tied = has_own_generator(tensors, embedding) ? Tied::inputs : Tied::all,
                        .dropout = dropout,
                        .attention_dropout = dropout,
                        .activation_dropout = dropout,
                        .embedding_dropout = dropout};
  if (config.head_width == 0) throw Error("{}: d_kv must be at least 1, but is 0", s.path());
  config.source_vocabulary = config.target_vocabulary = s.integer("vocab_size", 32128);
  if (embedding.shape != std::vector{config.source_vocabulary, config.d_model})
    throw Error("{}: vocab_size is {} and d_model is {}, but the embedding is {}", s.path(),
                config.source_vocabulary, config.d_model, describe(embedding));
  return config;
}

// --- The vocabulary ---------------------------------------------------------------------------------

// What a text is split by: the folder's SentencePiece file, or bytes, as in ByT5.
std::string model_of_pieces(const ImportRequest& request) {
  if (!request.vocabularies.empty()) return read_file(request.vocabularies[0]);
  const std::string path = request.source + "/" + t5_pieces_file;
  if (fs::exists(path)) return read_file(path);
  if (fs::exists(request.source + "/tokenizer_config.json") &&
      Settings(request.source, "tokenizer_config.json").text("tokenizer_class", "").starts_with("ByT5"))
    return byte_model();
  throw Error(
      "{} has no {}: take it from the model that this one was fine-tuned from, and name it with --vocab",
      request.source, t5_pieces_file);
}

// Pieces that the model has rows for beyond those of the file: places for spans that training left out, or nothing.
TokenTable token_table(const Settings& settings, const Vocabulary& pieces, int64_t rows) {
  if (pieces.size() > rows)
    throw Error("{}: the vocabulary has {} pieces, but vocab_size is {}", settings.path(), pieces.size(),
                rows);
  TokenTable table;
  for (int32_t id = 0; id < pieces.size(); ++id) table.tokens.push_back(pieces.piece(id));
  for (int64_t id = pieces.size(); id < rows; ++id) {
    table.tokens.push_back(fmt::format("<unused {}>", id));
    table.suppressed.push_back(static_cast<int32_t>(id));
  }
  const auto token = [&](const char* key, int64_t otherwise) {
    const int64_t id = settings.integer(key, otherwise);
    if (id >= rows) throw Error("{}: {} is {}, but vocab_size is {}", settings.path(), key, id, rows);
    return static_cast<int32_t>(id);
  };
  table.unknown = pieces.special().unknown;
  table.end = token("eos_token_id", 1);
  const int32_t padding = token("pad_token_id", 0);
  table.start = token("decoder_start_token_id", padding);
  if (padding != table.end) table.suppressed.push_back(padding);
  return table;
}

// MADLAD's sources begin with the language that they shall be translated into: "<2fr>".
void find_target_languages(TokenTable& table) {
  Languages& languages = table.languages;
  for (size_t id = 0; id < table.tokens.size(); ++id) {
    const std::string& token = table.tokens[id];
    if (token.starts_with(language_begin) && token.ends_with(">") && token.size() > 4)
      languages.tokens.emplace_back(token.substr(2, token.size() - 3), static_cast<int32_t>(id));
  }
  if (!languages.tokens.empty()) languages.position = Languages::TokenPosition::target_first;
}

Vocabularies vocabularies_of(const ImportRequest& request, const Settings& settings, int64_t rows) {
  const std::string model = model_of_pieces(request), path = request.source + "/" + t5_pieces_file;
  const Vocabulary pieces(model, path, BoundaryTokens{.start = -1, .end = -1});
  const TokenTable target = token_table(settings, pieces, rows);
  TokenTable source = target;
  find_target_languages(source);
  const auto make = [&](const TokenTable& table) {
    return std::make_shared<const Vocabulary>(with_token_table(model, table), path);
  };
  const auto both = make(source);
  return {both, source == target ? both : make(target)};
}

// --- The weights ------------------------------------------------------------------------------------

// Our name for a part, and its number among a layer's sublayers in encoder and decoder, and its name there.
struct PartNames {
  const char* ours;
  int encoder, decoder;
  std::vector<std::string> theirs;
};

const std::vector<PartNames>& part_names(bool gated) {
  using Names = std::vector<std::string>;
  static const auto make = [](const Names& inner) {
    return std::vector<PartNames>{
        {"self_attention.qkv", 0, 0, {"SelfAttention.q", "SelfAttention.k", "SelfAttention.v"}},
        {"self_attention.output", 0, 0, {"SelfAttention.o"}},
        {"self_attention.norm", 0, 0, {"layer_norm"}},
        {"cross_attention.query", -1, 1, {"EncDecAttention.q"}},
        {"cross_attention.key_value", -1, 1, {"EncDecAttention.k", "EncDecAttention.v"}},
        {"cross_attention.output", -1, 1, {"EncDecAttention.o"}},
        {"cross_attention.norm", -1, 1, {"layer_norm"}},
        {"feed_forward.inner", 1, 2, inner},
        {"feed_forward.value", 1, 2, {"DenseReluDense.wi_1"}},
        {"feed_forward.outer", 1, 2, {"DenseReluDense.wo"}},
        {"feed_forward.norm", 1, 2, {"layer_norm"}}};
  };
  static const std::vector<PartNames> plain = make({"DenseReluDense.wi"}),
                                      with_gate = make({"DenseReluDense.wi_0"});
  return gated ? with_gate : plain;
}

// The tensors of a parameter of the encoder or decoder, whose products have no biases. The first layer of a stack has
// the bias of distances for all of them, in all models but UMT5.
std::vector<std::string> t5_names(const std::string& parameter, bool gated) {
  const std::string stack = parameter.substr(0, 7);
  if (parameter.ends_with(".bias") || (stack != "encoder" && stack != "decoder")) return {};
  if (parameter.ends_with("position_bias"))
    return {stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"};
  if (parameter.ends_with("coder.norm.gain")) return {stack + ".final_layer_norm.weight"};
  const size_t number_end = parameter.find('.', 15), leaf = parameter.rfind('.');
  const std::string number = parameter.substr(15, number_end - 15),
                    part = parameter.substr(number_end + 1, leaf - number_end - 1);
  const auto& all = part_names(gated);
  const auto found = std::ranges::find(all, part, &PartNames::ours);
  CHECK(found != all.end(), "{}", parameter);
  const int sublayer = stack == "encoder" ? found->encoder : found->decoder;
  std::vector<std::string> names;
  for (const std::string& theirs : found->theirs)
    names.push_back(fmt::format("{}.block.{}.layer.{}.{}.weight", stack, number, sublayer, theirs));
  return names;
}

class T5Weights {
 public:
  T5Weights(ForeignTensors tensors, std::string path, const ModelConfig& config, bool scales_output)
      : tensors_(std::move(tensors)),
        path_(std::move(path)),
        config_(config),
        scales_output_(scales_output) {}

  std::vector<ForeignTensor> of(const Parameter& parameter) const {
    const std::string& name = parameter.name;
    const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
    if (name == "shared_embedding.weight") return {embedding_of(tensors_, path_)};
    if (name == "generator.weight") return {tensor_of(tensors_, path_, "lm_head.weight", {rows, columns})};
    if (name.ends_with(".bias")) return {zero_bias(columns)};
    const std::vector<std::string> theirs = t5_names(name, config_.gated);
    if (name.ends_with("position_bias")) return {tensor_of(tensors_, path_, theirs[0], {rows, columns})};
    if (name == "decoder.norm.gain" && scales_output_)
      return {as_row(scaled(tensor_of(tensors_, path_, theirs[0], {columns}),
                            1 / std::sqrt(static_cast<double>(config_.d_model))))};
    return layer(theirs, rows, columns / std::ssize(theirs));
  }

  const ForeignTensors& tensors() const { return tensors_; }

 private:
  // Their scores are not divided by the root of a head's width, as ours are: so queries are longer by as much.
  std::vector<ForeignTensor> layer(const std::vector<std::string>& names, int64_t rows,
                                   int64_t columns) const {
    std::vector<ForeignTensor> parts;
    for (const std::string& name : names) {
      if (rows == 1) {
        parts.push_back(as_row(tensor_of(tensors_, path_, name, {columns})));
        continue;
      }
      const ForeignTensor& matrix = tensor_of(tensors_, path_, name, {columns, rows});
      const double root = std::sqrt(static_cast<double>(config_.head_width));
      parts.push_back(transposed(name.ends_with("Attention.q.weight") ? scaled(matrix, root) : matrix));
    }
    return parts;
  }

  ForeignTensors tensors_;
  std::string path_;
  ModelConfig config_;
  bool scales_output_;
};

// The embeddings, whose copies may be there under each name. The bias in the first published files is one that
// transformers does not read; a value head is a by-product of reinforcement learning.
bool can_ignore_in_t5(const std::string& name) {
  static const std::set<std::string, std::less<>> known = {
      "shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight",
      "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
  return known.contains(name) || name.starts_with("v_head.");
}

std::vector<std::string> choices_of(const ImportedModel& model) {
  std::vector<std::string> choices = {
      fmt::format("positions: T5's, {} buckets of distances", model.config.position_buckets),
      search_choice(model)};
  if (const auto count = model.vocabularies.source->languages().tokens.size(); count > 0)
    choices.push_back(
        fmt::format("{} target languages, chosen by --to; the source begins with its token", count));
  return choices;
}

}  // namespace

bool is_huggingface_t5(const std::string& folder) {
  const std::string type = model_type_of(folder);
  return type == "t5" || type == "mt5";
}

ImportedModel import_huggingface_t5(const ImportRequest& request) {
  const Settings settings = read_model_settings(request.source);
  auto [tensors, path] = read_model_weights(request.source);
  ImportedModel model = {.system = "Hugging Face T5", .config = t5_config(settings, tensors, path)};
  model.vocabularies = vocabularies_of(request, settings, model.config.source_vocabulary);
  model.max_length = std::max<int64_t>(1, settings.integer("n_positions", 512) - 1);
  model.search = search_of(settings, 1);
  model.choices = choices_of(model);
  note_ignored(settings, model.choices);
  const auto weights =
      std::make_shared<const T5Weights>(std::move(tensors), path, model.config, scales_output(settings));
  model.tensors_of = [weights](const Parameter& parameter) { return weights->of(parameter); };
  const auto names_of = [gated = model.config.gated](const std::string& parameter) {
    return t5_names(parameter, gated);
  };
  check_tensors(model, path, weights->tensors(), {.of = names_of, .can_ignore = can_ignore_in_t5});
  return model;
}

}  // namespace dragoman::internal
