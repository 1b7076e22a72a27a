// A folder of Hugging Face's Marian: post-norm, the paper's positions, and what goes with them.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "convert/exported_tensor.h"
#include "convert/exporters.h"
#include "convert/fairseq_names.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

constexpr int64_t positions = 1024;       // of its table
constexpr float never_chosen = -1e9F;     // a logit without probability
constexpr const char* padding = "<pad>";  // which transformers cannot do without

// --- What it can express ----------------------------------------------------------------------------

[[noreturn]] void refuse(const char* needed) {
  throw Error("export --format huggingface needs {}; --format ctranslate2 can express this model", needed);
}

const char* activation_name(Activation activation) {
  for (const auto& [known, name] : {std::pair(Activation::relu, "relu"),
                                    {Activation::gelu, "gelu"},
                                    {Activation::gelu_tanh, "gelu_new"},
                                    {Activation::gelu_sigmoid, "quick_gelu"}})
    if (activation == known) return name;
  return "swish";
}

void check_expressible(const SavedModel& model) {
  const ModelConfig& c = model.model.config;
  if (c.norm != NormOrder::post) refuse("model.norm = \"post\"");
  if (c.norm_eps != 1e-5) refuse("model.norm_eps = 1e-5");
  if ((c.positions != Positions::halves && c.positions != Positions::sinusoidal) || c.position_offset != 0)
    refuse("model.positions = \"sinusoidal\" or \"halves\", from position 0");
  if (c.embedding_scale != 0 && c.embedding_scale != 1) refuse("model.embedding_scale = 0 or 1");
  if (c.embedding_norm) refuse("model.embedding_norm = false");
  if (!model.readers[0].end_mark) refuse("vocabulary.source_eos = true, since its tokenizer ends sources");
  if (model.vocabularies.source->special().end < 0 || model.vocabularies.target->special().end < 0)
    refuse("vocabularies with an end mark");
}

// --- Tokens -----------------------------------------------------------------------------------------

// Both vocabularies have <pad> at one id, since the configuration has one. If they lack it, it takes the place after the
// shorter one, and the tokens from there on move up.
struct Padding {
  int32_t id;
  bool is_new;

  int32_t moved(int32_t token) const { return is_new && token >= id ? token + 1 : token; }
};

Padding padding_of(const SavedModel& model) {
  const Vocabulary &source = *model.vocabularies.source, &target = *model.vocabularies.target;
  const auto find = [](const Vocabulary& vocabulary) -> std::optional<int32_t> {
    const int32_t id = vocabulary.id(padding);
    return vocabulary.piece(id) == padding ? std::optional(id) : std::nullopt;
  };
  const auto of_source = find(source), of_target = find(target);
  if (!of_source && !of_target) return {static_cast<int32_t>(std::min(source.size(), target.size())), true};
  if (!of_source || !of_target) refuse("<pad> in both vocabularies, or in neither");
  if (*of_source >= target.size())
    refuse("a <pad> in the source vocabulary whose id the target vocabulary has, too");
  if (model.model.config.zero_start)
    refuse("a vocabulary without <pad>, since the decoder's zero vector becomes one");
  return {*of_source, false};
}

void write_tokens(const std::string& path, const Vocabulary& vocabulary, const Padding& pad) {
  json tokens = json::object();
  if (pad.is_new) tokens[padding] = pad.id;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(id);
    if (tokens.contains(piece))
      throw Error("export --format huggingface: a vocabulary has the token {} twice", piece);
    tokens[piece] = pad.moved(id);
  }
  write_file(path, {tokens.dump()});
}

bool have_same_tokens(const Vocabulary& a, const Vocabulary& b) {
  if (a.size() != b.size()) return false;
  for (int32_t id = 0; id < a.size(); ++id)
    if (a.piece(id) != b.piece(id)) return false;
  return true;
}

void write_tokenizer(const std::string& folder, const SavedModel& model, const Padding& pad) {
  const Vocabulary &source = *model.vocabularies.source, &target = *model.vocabularies.target;
  const bool separate = !have_same_tokens(source, target);
  write_file(folder + "/source.spm", {source.model()});
  write_file(folder + "/target.spm", {target.model()});
  write_tokens(folder + "/vocab.json", source, pad);
  if (separate) write_tokens(folder + "/target_vocab.json", target, pad);
  const json config = {{"tokenizer_class", "MarianTokenizer"},
                       {"unk_token", source.piece(source.special().unknown)},
                       {"eos_token", source.piece(source.special().end)},
                       {"pad_token", padding},
                       {"model_max_length", positions},
                       {"separate_vocabs", separate}};
  write_file(folder + "/tokenizer_config.json", {config.dump(1)});
}

// --- Weights ----------------------------------------------------------------------------------------

// Where our paper's columns, sines and cosines in turn, are among halves: their column's place here.
class Columns {
 public:
  explicit Columns(const ModelConfig& c)
      : half_(c.positions == Positions::sinusoidal ? static_cast<size_t>(c.d_model) / 2 : 0) {}

  size_t operator[](size_t theirs) const {
    if (half_ == 0) return theirs;
    return theirs < half_ ? 2 * theirs : 2 * (theirs - half_) + 1;
  }

 private:
  size_t half_;  // 0: nothing moves
};

bool reads_stream(const std::string& name) {
  return name.find("embedding.weight") != std::string::npos || name == "generator.weight" ||
         name.ends_with(".qkv.weight") || name.ends_with(".query.weight") ||
         name.ends_with(".key_value.weight") || name.ends_with(".inner.weight");
}

bool writes_stream(const std::string& name) {
  return name.find(".output.") != std::string::npos || name.find(".outer.") != std::string::npos ||
         name.find("norm.") != std::string::npos;
}

// The residual stream's columns in their order. What is within heads and feed-forward layers stays.
void reorder(const std::string& name, const Columns& columns, ExportedTensor& tensor) {
  const size_t rows = static_cast<size_t>(tensor.shape[0]), width = tensor.values.size() / rows;
  const bool by_row = writes_stream(name), by_column = reads_stream(name);
  const std::vector<float> old = tensor.values;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < width; ++column)
      tensor.values[row * width + column] =
          old[(by_row ? columns[row] : row) * width + (by_column ? columns[column] : column)];
}

void insert_row(ExportedTensor& table, int64_t at, float value) {
  const int64_t width = std::ssize(table.values) / table.shape[0];
  table.values.insert(table.values.begin() + at * width, static_cast<size_t>(width), value);
  ++table.shape[0];
}

class Weights {
 public:
  void add(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
    tensors_.push_back({std::move(name), std::move(shape), std::move(values)});
  }

  // Several of theirs, one after another.
  void add_parts(const std::vector<std::string>& names, const ExportedTensor& tensor) {
    std::vector<int64_t> shape = tensor.shape;
    shape[0] /= std::ssize(names);
    const auto size = std::ssize(tensor.values) / std::ssize(names);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto begin = tensor.values.begin() + static_cast<int64_t>(i) * size;
      add("model." + names[i], shape, {begin, begin + size});
    }
  }

  void write(const std::string& path) const {
    std::vector<TensorEntry> entries;
    for (const auto& [name, shape, values] : tensors_)
      entries.push_back({name, Dtype::f32, shape, std::as_bytes(std::span(values))});
    write_safetensors(path, {{"format", "pt"}}, entries);
  }

 private:
  struct Named {
    std::string name;
    std::vector<int64_t> shape;
    std::vector<float> values;
  };
  std::vector<Named> tensors_;
};

void add_table(Weights& weights, const std::string& name, const ExportedTensor& table) {
  const char* theirs = name == "shared_embedding.weight"   ? "model.shared.weight"
                       : name == "source_embedding.weight" ? "model.encoder.embed_tokens.weight"
                       : name == "target_embedding.weight" ? "model.decoder.embed_tokens.weight"
                                                           : "lm_head.weight";
  weights.add(theirs, table.shape, table.values);
}

void write_weights(const std::string& path, SavedModel& model, const Padding& pad) {
  const Columns columns(model.model.config);
  Weights weights;
  std::vector<float> bias(static_cast<size_t>(model.model.config.target_vocabulary), 0);
  for (const Parameter& parameter : model.model.parameters.list()) {
    ExportedTensor tensor = exported(model.device, parameter);
    if (parameter.name == "generator.bias") {
      bias = std::move(tensor.values);
      continue;
    }
    reorder(parameter.name, columns, tensor);
    if (parameter.role == Role::table) {
      if (pad.is_new) insert_row(tensor, pad.id, 0);
      add_table(weights, parameter.name, tensor);
    } else {
      weights.add_parts(fairseq_names(parameter.name), tensor);
    }
  }
  if (pad.is_new) bias.insert(bias.begin() + pad.id, never_chosen);
  weights.add("final_logits_bias", {1, std::ssize(bias)}, bias);
  weights.write(path);
}

// --- Configuration ----------------------------------------------------------------------------------

void write_config(const std::string& folder, const SavedModel& model, const Padding& pad) {
  const ModelConfig& c = model.model.config;
  const SpecialTokens& special = model.vocabularies.target->special();
  const json config = {{"architectures", {"MarianMTModel"}},
                       {"model_type", "marian"},
                       {"is_encoder_decoder", true},
                       {"d_model", c.d_model},
                       {"encoder_layers", c.encoder_layers},
                       {"decoder_layers", c.decoder_layers},
                       {"num_hidden_layers", c.encoder_layers},
                       {"encoder_attention_heads", c.heads},
                       {"decoder_attention_heads", decoder_heads(c)},
                       {"encoder_ffn_dim", c.d_ff},
                       {"decoder_ffn_dim", decoder_d_ff(c)},
                       {"activation_function", activation_name(c.activation)},
                       {"scale_embedding", c.embedding_scale == 0},
                       {"vocab_size", c.source_vocabulary + (pad.is_new ? 1 : 0)},
                       {"decoder_vocab_size", c.target_vocabulary + (pad.is_new ? 1 : 0)},
                       {"share_encoder_decoder_embeddings", c.tied == Tied::all},
                       {"tie_word_embeddings", c.tied != Tied::none},
                       {"max_position_embeddings", positions},
                       {"static_position_embeddings", true},
                       {"dropout", c.dropout},
                       {"attention_dropout", c.attention_dropout},
                       {"activation_dropout", c.activation_dropout},
                       {"bos_token_id", nullptr},
                       {"pad_token_id", pad.id},
                       {"eos_token_id", pad.moved(special.end)},
                       {"forced_eos_token_id", pad.moved(special.end)},
                       {"decoder_start_token_id", c.zero_start ? pad.id : pad.moved(special.start)},
                       {"dtype", "float32"}};
  write_file(folder + "/config.json", {config.dump(1)});
}

void write_search(const std::string& folder, const SavedModel& model, const Padding& pad) {
  const SearchOptions& search = model.search;
  const SpecialTokens& special = model.vocabularies.target->special();
  json never = json::array();
  if (pad.is_new) never.push_back(json::array({pad.id}));
  for (const int32_t id : model.vocabularies.target->never()) never.push_back(json::array({pad.moved(id)}));
  const json config = {
      {"num_beams", search.beam},
      {"length_penalty", search.penalty_form == LengthPenalty::plain ? search.length_penalty : 1},
      {"max_length", std::min(search.max_length + 2, positions)},
      {"bad_words_ids", never},
      {"pad_token_id", pad.id},
      {"eos_token_id", pad.moved(special.end)},
      {"forced_eos_token_id", pad.moved(special.end)},
      {"decoder_start_token_id", model.model.config.zero_start ? pad.id : pad.moved(special.start)}};
  write_file(folder + "/generation_config.json", {config.dump(1)});
}

}  // namespace

std::vector<std::string> export_huggingface(SavedModel& model, const std::string& folder) {
  check_expressible(model);
  const Padding pad = padding_of(model);
  make_folder(folder);
  write_tokenizer(folder, model, pad);
  write_search(folder, model, pad);
  write_weights(folder + "/model.safetensors", model, pad);
  write_config(folder, model, pad);
  std::vector<std::string> notes;
  if (model.model.config.positions == Positions::sinusoidal)
    notes.emplace_back("columns are in another order there, since transformers has all sines first");
  if (pad.is_new)
    notes.push_back(fmt::format("the vocabulary has a new token {}, which transformers needs", padding));
  if (model.search.penalty_form != LengthPenalty::plain)
    notes.emplace_back("transformers has no GNMT length penalty: its length_penalty is 1");
  return notes;
}

}  // namespace dragoman::internal
