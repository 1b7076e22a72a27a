#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/quotes.h"
#include "convert/check_tensors.h"
#include "convert/ctranslate2/config.h"
#include "convert/ctranslate2/model.h"
#include "convert/ctranslate2/names.h"
#include "convert/ctranslate2/sentencepiece_files.h"
#include "convert/ctranslate2/vocabulary.h"
#include "convert/huggingface/languages.h"
#include "convert/systems.h"

namespace dragoman::internal {
namespace {

using namespace ctranslate2;
namespace fs = std::filesystem;

// Its defaults: the longest output, and the longest source.
constexpr int64_t default_output_length = 256, default_source_length = 1024;

// --- The weights ------------------------------------------------------------------------------------

// The part of a weight or bias that queries come from, each row times the factor. Their scores may have another scale
// than the root of a head's width.
ForeignTensor with_longer_queries(ForeignTensor tensor, int64_t queries, double factor) {
  if (factor == 1) return tensor;
  const int64_t rows = tensor.shape[0];
  if (tensor.type == ElementType::i8 || tensor.type == ElementType::i16) {
    if (tensor.scales.size() == 1) tensor.scales.assign(static_cast<size_t>(rows), tensor.scales[0]);
    for (int64_t i = 0; i < queries; ++i) tensor.scales[static_cast<size_t>(i)] /= static_cast<float>(factor);
    return tensor;
  }
  std::vector<float> values = to_floats(tensor);
  const auto end = values.begin() + std::ssize(values) / rows * queries;
  std::for_each(values.begin(), end, [factor](float& value) { value = static_cast<float>(value * factor); });
  return from_floats(std::move(values), tensor.shape);
}

ForeignTensor rescaled(const CTranslate2Model& model, const ModelConfig& config, const std::string& name,
                       const ForeignTensor& tensor) {
  const size_t linear = name.find("/linear_0/");
  if (name == "decoder/layer_norm/gamma" || name == "decoder/layer_norm/beta") {
    const double scale = model.scalar("decoder/scale_outputs", 1);
    return scale == 1 || scale == 0 ? tensor : scaled(tensor, scale);
  }
  if (linear == std::string::npos || !name.substr(0, linear).ends_with("attention")) return tensor;
  const double scale = model.scalar(name.substr(0, linear) + "/queries_scale", 0);
  if (scale == 0) return tensor;
  const int64_t heads = name.starts_with("encoder") ? config.heads : decoder_heads(config),
                width = attention_width(config, heads);
  return with_longer_queries(tensor, width, scale * std::sqrt(static_cast<double>(width / heads)));
}

std::vector<ForeignTensor> tensors_of(const CTranslate2Model& model, const ModelConfig& config,
                                      const Parameter& parameter) {
  const std::string name = ctranslate2_name(parameter.name);
  const int64_t rows = parameter.value.rows(), columns = parameter.value.columns();
  if (name.ends_with("/bias") && !model.has(name)) return {zero_bias(columns)};
  const ForeignTensor& tensor = model.find(name);
  const auto of_shape = [&](const std::vector<int64_t>& shape) {
    if (tensor.shape != shape)
      throw Error("{}: {} is {}, but the other tensors imply [{}]", model.path, name, describe(tensor),
                  fmt::join(shape, ", "));
    return rescaled(model, config, name, tensor);
  };
  if (parameter.role == Role::weight) return {transposed(of_shape({columns, rows}))};
  if (parameter.role == Role::table || (rows > 1 && !parameter.constant)) return {of_shape({rows, columns})};
  if (!parameter.constant) return {as_row(of_shape({columns}))};
  model.matrix(name);
  return {rows_of(tensor, 0, rows)};  // the longer of two tables of positions
}

// Why a model with a variable of this name cannot be imported.
const char* reason(const std::string& name) {
  for (const auto& [part, what] : {std::pair("relative_", "this kind of relative positions is"),
                                   {"rotary", "rotary positions are"},
                                   {"alibi", "attention with linear biases is"},
                                   {"num_heads_kv", "heads that share keys and values are"},
                                   {"multi_query", "heads that share keys and values are"},
                                   {"weight_zero", "AWQ quantization is"},
                                   {"encoder/embeddings_", "source factors are"},
                                   {"linear_0_noact", "a mixture of gated and other feed-forward layers is"},
                                   {"layer_norm", "this arrangement of norms is"}})
    if (name.find(part) != std::string::npos) return what;
  return "this part of a model is";
}

// Variables that are understood, or that state what holds here anyway. A flag that is off has no effect.
bool is_harmless(const CTranslate2Model& model, const std::string& name) {
  static const std::set<std::string, std::less<>> attributes = {"num_heads",
                                                                "pre_norm",
                                                                "activation",
                                                                "embeddings_merge",
                                                                "alignment_layer",
                                                                "alignment_heads",
                                                                "scale_embeddings",
                                                                "start_from_zero_embedding",
                                                                "multiply_by_sqrt_depth",
                                                                "queries_scale",
                                                                "head_dim",
                                                                "scale_outputs",
                                                                "relative_attention_max_distance",
                                                                "unk_token",
                                                                "bos_token",
                                                                "eos_token",
                                                                "with_source_bos",
                                                                "with_source_eos",
                                                                "with_target_bos",
                                                                "user_decoder_start_tokens",
                                                                "with_relative_position",
                                                                "layernorm_embedding"};
  if (attributes.contains(name.substr(name.rfind('/') + 1))) return true;
  return model.find(name).data.size() == element_size(model.find(name).type) && model.scalar(name, 0) == 0;
}

// Every layer must have the first one's bias; and what leaves the decoder is scaled by its last norm.
void check_t5(const CTranslate2Model& model, const ModelConfig& config) {
  const double scale = model.scalar("decoder/scale_outputs", 0);  // 0: they are not
  if (scale < 0 || (scale != 0 && scale != 1 && config.norm != NormOrder::pre))
    throw Error("{}: decoder/scale_outputs = {} is not supported", model.path, scale);
  if (config.positions != Positions::t5) return;
  for (const auto& [stack, layers] : {std::pair<std::string, int64_t>("encoder", config.encoder_layers),
                                      {"decoder", config.decoder_layers}}) {
    for (int64_t i = 1; i < layers; ++i) {
      const std::string layer = fmt::format("{}/layer_{}", stack, i);
      const auto distance = static_cast<int64_t>(model.scalar(layer + t5_distance, 128));
      if (distance != config.max_distance ||
          !same(model.find(layer + t5_bias), model.find(stack + "/layer_0" + t5_bias)))
        throw Error("{}: {} has another bias than the first layer, which is not supported", model.path,
                    layer);
    }
  }
}

// Integers have scales. A tied matrix may be there under each of its names, and a table of positions that are computed.
TensorNames variable_names(const CTranslate2Model& model, const ModelConfig& config) {
  const auto with_scale = [](const std::string& name) { return std::vector{name, name + "_scale"}; };
  std::set<std::string, std::less<>> tables;
  for (const std::string& table : {encoder_positions, decoder_positions, encoder_embedding, generator})
    for (std::string& name : with_scale(table)) tables.insert(std::move(name));
  const bool has_t5_bias = config.positions == Positions::t5;
  return {
      .of = [with_scale](const std::string& parameter) { return with_scale(ctranslate2_name(parameter)); },
      .can_ignore =
          [&model, tables, has_t5_bias](const std::string& name) {
            return tables.contains(name) || (has_t5_bias && name.ends_with(t5_bias)) ||
                   is_harmless(model, name);
          },
      .reason = [](const std::string& name) { return fmt::format("{} not supported", reason(name)); }};
}

// --- The rest ---------------------------------------------------------------------------------------

void check_sizes(const CTranslate2Model& model, const std::string& folder, const TokenTables& tables) {
  for (const auto& [side, name, tokens] :
       {std::tuple("source", encoder_embedding, std::ssize(tables.source.tokens)),
        std::tuple("target", decoder_embedding, std::ssize(tables.target.tokens)),
        std::tuple("target", generator, std::ssize(tables.target.tokens))}) {
    const int64_t rows = model.matrix(name).shape[0];
    if (rows != tokens)
      throw Error("{}: the {} vocabulary has {} tokens, but {} in model.bin has {} rows", folder, side,
                  tokens, name, rows);
  }
}

// Models converted from transformers leave the end mark of sources to the caller's tokenizer. They are those whose
// decoder begins with the end mark or, as T5's and Pegasus's do, with <pad>: OpenNMT's begin with <s>, and Marian's and
// fairseq's specify that they end sources.
bool caller_ends_sources(const CTranslate2Settings& s) {
  return !s.add_source_eos && (s.decoder_start == s.end || s.decoder_start == "<pad>");
}

Precision precision_of(const CTranslate2Model& model) {
  const ForeignTensor& weight = model.find("encoder/layer_0/self_attention/linear_0/weight");
  return weight.type == ElementType::i8 ? Precision::int8 : Precision::fp32;
}

std::string describe_positions(const ModelConfig& config) {
  if (config.positions == Positions::stored)
    return fmt::format("positions: the table in model.bin, for {} tokens", config.max_positions);
  if (config.positions == Positions::t5) return "positions: T5's distances";
  if (config.positions == Positions::none) return "positions: none of their own";
  const char* kind = config.positions == Positions::halves       ? "halves"
                     : config.positions == Positions::sinusoidal ? "sinusoidal"
                                                                 : "tensor2tensor";
  return fmt::format("positions: {}, from {}", kind, config.position_offset);
}

std::vector<std::string> choices_of(const ImportedModel& model, const CTranslate2Settings& settings) {
  std::vector<std::string> choices = {describe_positions(model.config)};
  const Vocabulary& target = *model.vocabularies.target;
  choices.push_back(model.config.zero_start
                        ? "the decoder begins with a vector of zeros"
                        : fmt::format("the decoder begins with {}", target.piece(target.special().start)));
  choices.push_back(model.source_eos ? fmt::format("sources end with {}", settings.end)
                                     : "sources have no end mark");
  if (caller_ends_sources(settings)) choices.back() += ", as in models that come from transformers";
  choices.push_back(search_choice(model));
  if (const auto languages = target.languages().names(); !languages.empty())
    choices.push_back(fmt::format("languages: {}, chosen by --from and --to", languages.size()));
  if (model.shortlist) choices.push_back("vmap.txt is the shortlist: translate --shortlist uses it");
  return choices;
}

uint32_t number_at(std::span<const std::byte> bytes, size_t place) {
  uint32_t number = 0;
  if (bytes.size() >= place + sizeof number) std::memcpy(&number, bytes.data() + place, sizeof number);
  return number;
}

}  // namespace

// Marian's binary files begin with a version, too, but of 64 bits.
bool is_ctranslate2(const std::string& folder) {
  const std::string path = folder + "/model.bin";
  if (!fs::is_regular_file(path)) return false;
  for (const char* name :
       {"shared_vocabulary.json", "shared_vocabulary.txt", "target_vocabulary.json", "target_vocabulary.txt"})
    if (fs::exists(folder + "/" + name)) return true;
  const SharedBytes file = map_file(path);
  const uint32_t version = number_at(file.bytes, 0);
  return version >= 1 && version <= 6 && number_at(file.bytes, 4) != 0;
}

namespace {

// Models that come from M2M100, NLLB and mBART leave the tokens of languages to the caller.
void find_languages(TokenTable& table) {
  for (size_t id = 0; id < table.tokens.size(); ++id)
    if (std::string name = language_name(table.tokens[id]); !name.empty())
      table.languages.tokens.emplace_back(std::move(name), static_cast<int32_t>(id));
  if (table.languages.tokens.size() == 1) table.languages.tokens.clear();
}

void force_prefix(const std::string& folder, const std::string& prefix, TokenTable& target) {
  if (prefix.empty()) return;
  const auto found = std::ranges::find(target.tokens, prefix);
  if (found == target.tokens.end())
    throw Error("{}: the target vocabulary lacks the target prefix {}", folder, in_quotes(prefix));
  target.forced_prefix = {static_cast<int32_t>(found - target.tokens.begin())};
}

}  // namespace

ImportedModel import_ctranslate2(const ImportRequest& request) { return import_ctranslate2_for(request, {}); }

ImportedModel import_ctranslate2_for(const ImportRequest& request, const CTranslate2Search& search) {
  const std::string& folder = request.source;
  const auto theirs = std::make_shared<const CTranslate2Model>(read_ctranslate2(folder));
  const CTranslate2Settings& settings = theirs->settings;
  if (!settings.decoder_start)
    throw Error(
        "{}: the model has no decoder_start_token, since its first token is a language: such models are not "
        "supported",
        folder);
  if (settings.add_source_bos) throw Error("{}: add_source_bos = true is not supported", folder);
  ImportedModel model = {.system = "CTranslate2", .config = ctranslate2_config(*theirs)};
  model.tensors_of = [theirs, config = model.config](const Parameter& parameter) {
    return tensors_of(*theirs, config, parameter);
  };
  check_t5(*theirs, model.config);
  check_tensors(model, theirs->path, theirs->tensors, variable_names(*theirs, model.config));
  TokenTables tables = read_token_tables(folder, settings);
  find_languages(tables.source);
  find_languages(tables.target);
  force_prefix(folder, search.target_prefix, tables.target);
  check_sizes(*theirs, folder, tables);
  const fs::path parent = fs::absolute(fs::path(folder) / "").parent_path().parent_path();
  model.vocabularies =
      with_tables(find_sentencepiece(request, {folder, parent.string()}), tables.source, tables.target);
  model.shortlist = read_vmap(folder, tables);
  model.precision = precision_of(*theirs);
  model.source_eos = settings.add_source_eos || caller_ends_sources(settings);
  const int64_t positions =
      has_fixed_length(model.config.positions) ? model.config.max_positions : default_source_length;
  // Longer sources are split, since translations of more tokens would be cut.
  model.max_length = std::max<int64_t>(1, std::min(positions - 1, default_output_length));
  model.search = {{"beam", search.beam},     {"length-penalty", search.length_penalty},
                  {"penalty-form", "plain"}, {"max-length", default_output_length},
                  {"max-length-ratio", 0},   {"replace-unknown", search.replace_unknown},
                  {"min-length", 1}};
  // Its beam search ends once `beam` outputs have ended, but without a length penalty as soon as the best one has.
  if (search.length_penalty != 0 && search.beam > 1) model.search["beam-ending"] = "early";
  model.choices = choices_of(model, settings);
  return model;
}

}  // namespace dragoman::internal
