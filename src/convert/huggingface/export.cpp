// A folder of Hugging Face's Marian, which is post-norm, or of its Pegasus, the same in pre-norm with one embedding.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "convert/export_notes.h"
#include "convert/exporters.h"
#include "convert/huggingface/weights.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

constexpr int64_t max_positions = 1024;     // of its table
constexpr const char* pad_piece = "<pad>";  // which transformers cannot do without

// --- What it can express ----------------------------------------------------------------------------

[[noreturn]] void refuse_export(const std::vector<std::string>& needed, bool others_can = true) {
  throw Error("export --format huggingface needs {}{}", fmt::join(needed, ", "),
              others_can ? "; --format ctranslate2 can express this model" : "");
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
  const Vocabularies& words = model.vocabularies;
  const ModelConfig& config = model.model.config;
  std::vector<std::string> needed = unmet_by_huggingface(config, model.readers[0].end_mark);
  if (!words.target->forced_prefix().empty() || !words.target->languages().names().empty())
    needed.emplace_back("a model without forced words and a table of languages");
  if (words.source->special().end < 0 || words.target->special().end < 0)
    needed.emplace_back("vocabularies with an end mark");
  if (!needed.empty()) refuse_export(needed, !has_ssru(config));
}

// --- Tokens -----------------------------------------------------------------------------------------

// Both vocabularies have <pad> at one id, since the configuration has one. If they lack it, it takes the place after
// the shorter one, and the tokens from there on move up.
struct Padding {
  int32_t id;
  bool is_new;

  int32_t moved(int32_t token) const { return is_new && token >= id ? token + 1 : token; }
};

Padding padding_of(const SavedModel& model) {
  const Vocabulary &source = *model.vocabularies.source, &target = *model.vocabularies.target;
  const auto find = [](const Vocabulary& vocabulary) -> std::optional<int32_t> {
    const int32_t id = vocabulary.id(pad_piece);
    return vocabulary.piece(id) == pad_piece ? std::optional(id) : std::nullopt;
  };
  const auto of_source = find(source), of_target = find(target);
  if (!of_source && !of_target) return {static_cast<int32_t>(std::min(source.size(), target.size())), true};
  if (!of_source || !of_target) refuse_export({"<pad> in both vocabularies, or in neither"});
  if (*of_source >= target.size())
    refuse_export({"a <pad> in the source vocabulary whose id the target vocabulary has, too"});
  if (model.model.config.zero_start)
    refuse_export({"a vocabulary without <pad>, since the decoder's zero vector becomes one"});
  return {*of_source, false};
}

void write_tokens(const std::string& path, const Vocabulary& vocabulary, const Padding& pad) {
  json tokens = json::object();
  if (pad.is_new) tokens[pad_piece] = pad.id;
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
                       {"pad_token", pad_piece},
                       {"model_max_length", max_positions},
                       {"separate_vocabs", separate}};
  write_file(folder + "/tokenizer_config.json", {config.dump(1)});
}

// --- Configuration ----------------------------------------------------------------------------------

void write_config(const std::string& folder, const SavedModel& model, const Padding& pad) {
  const ModelConfig& c = model.model.config;
  const SpecialTokens& special = model.vocabularies.target->special();
  const bool pre = c.norm == NormOrder::pre;
  const json config = {{"architectures", {pre ? "PegasusForConditionalGeneration" : "MarianMTModel"}},
                       {"model_type", pre ? "pegasus" : "marian"},
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
                       {"max_position_embeddings", max_positions},
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
  json suppressed = json::array();
  if (pad.is_new) suppressed.push_back(json::array({pad.id}));
  for (const int32_t id : model.vocabularies.target->suppressed())
    suppressed.push_back(json::array({pad.moved(id)}));
  const json config = {
      {"num_beams", search.beam},
      {"length_penalty", search.penalty_form == LengthPenalty::plain ? search.length_penalty : 1},
      {"max_length", std::min(search.max_length + 2, max_positions)},
      {"bad_words_ids", suppressed},
      {"pad_token_id", pad.id},
      {"eos_token_id", pad.moved(special.end)},
      {"forced_eos_token_id", pad.moved(special.end)},
      {"decoder_start_token_id", model.model.config.zero_start ? pad.id : pad.moved(special.start)}};
  write_file(folder + "/generation_config.json", {config.dump(1)});
}

}  // namespace

std::vector<std::string> unmet_by_huggingface(const ModelConfig& c, bool source_eos) {
  std::vector<std::string> needed;
  const auto need = [&](bool has, const char* what) {
    if (!has) needed.emplace_back(what);
  };
  const bool one_embedding = c.tied == Tied::all, scaled = c.embedding_scale == 0 || c.embedding_scale == 1;
  need(c.norm == NormOrder::post || one_embedding, "model.tied = \"all\" (or model.norm = \"post\")");
  need(c.norm_kind == NormKind::layer, "model.norm_kind = \"layer\"");
  need(c.norm_eps == 1e-5, "model.norm_eps = 1e-5");
  need(!c.gated, "model.gated = false");
  need(c.positions == Positions::halves || c.positions == Positions::sinusoidal,
       "model.positions = \"sinusoidal\" or \"halves\"");
  need(c.relative_distance == 0, "model.relative_distance = 0");
  need(!c.query_key_norm, "model.query_key_norm = false");
  need(c.tied != Tied::inputs, "model.tied = \"none\", \"output\" or \"all\"");
  need(c.head_width == 0 || c.head_width * c.heads == c.d_model, "model.head_width = 0");
  need(c.position_offset == 0, "model.position_offset = 0");
  need(scaled, "model.embedding_scale = 0 or 1");
  need(!c.embedding_norm, "model.embedding_norm = false");
  need(!has_ssru(c), "model.decoder_self_attention = \"attention\"");
  need(source_eos, "vocabulary.source_eos = true");
  return needed;
}

std::vector<std::string> export_huggingface(SavedModel& model, const std::string& folder) {
  check_expressible(model);
  const Padding pad = padding_of(model);
  const auto new_row = pad.is_new ? std::optional<int64_t>(pad.id) : std::nullopt;
  make_folder(folder);
  write_tokenizer(folder, model, pad);
  write_search(folder, model, pad);
  write_huggingface_weights(folder + "/model.safetensors", model, new_row);
  write_config(folder, model, pad);
  std::vector<std::string> notes;
  if (model.model.config.positions == Positions::sinusoidal)
    notes.emplace_back("columns are in another order there, since transformers has all sines first");
  if (pad.is_new)
    notes.push_back(fmt::format("the vocabulary has a new token {}, which transformers needs", pad_piece));
  if (model.search.penalty_form != LengthPenalty::plain)
    notes.emplace_back("transformers has no GNMT length penalty: its length_penalty is 1");
  note_tokenizer(model.vocabularies, notes);
  return notes;
}

}  // namespace dragoman::internal
