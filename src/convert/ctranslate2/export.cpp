// A CTranslate2 folder of binary version 6, which can express nearly every Transformer of this program.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/quotes.h"
#include "convert/ctranslate2/names.h"
#include "convert/export_notes.h"
#include "convert/exported_tensor.h"
#include "convert/exporters.h"
#include "search/shortlist.h"
#include "text/language_tokens.h"

namespace dragoman::internal {
namespace {

using namespace ctranslate2;

constexpr uint32_t format_version = 6, format_revision = 7;
constexpr int64_t computed_positions = 1024;  // CTranslate2 cuts longer sources

// What model.bin consists of.
class ModelBin {
 public:
  template <class Number>
  void add_scalar(const std::string& name, Number value) {
    add<Number>(name, {}, std::span(&value, 1));
  }

  void add_floats(const std::string& name, const std::vector<int64_t>& shape, std::span<const float> values) {
    add<float>(name, shape, values);
  }

  // As int8 and scales where it has scales.
  void add_tensor(const std::string& name, const ExportedTensor& tensor) {
    if (tensor.scales.empty()) return add_floats(name, tensor.shape, tensor.values);
    std::vector<int8_t> integers(tensor.values.size());
    std::vector<float> scales;
    const size_t columns = integers.size() / tensor.scales.size();
    for (const float scale : tensor.scales) scales.push_back(scale > 0 ? 1 / scale : 1);
    for (size_t i = 0; i < integers.size(); ++i)
      integers[i] = static_cast<int8_t>(std::lrint(tensor.values[i] * scales[i / columns]));
    add<int8_t>(name, tensor.shape, integers);
    add_floats(name + "_scale", {std::ssize(scales)}, scales);
  }

  void add_alias(const std::string& alias, const std::string& name) { aliases_[alias] = name; }

  void write(const std::string& path) const {
    const std::string begin = number(format_version) + text("TransformerSpec") + number(format_revision) +
                              number(static_cast<uint32_t>(variables_.size()));
    std::string end = number(static_cast<uint32_t>(aliases_.size()));
    for (const auto& [alias, name] : aliases_) end += text(alias) + text(name);
    std::vector<std::string_view> parts = {begin};
    for (const auto& [name, bytes] : variables_) parts.push_back(bytes);
    parts.push_back(end);
    write_file(path, parts);
  }

 private:
  template <class Number>
  static std::string number(Number value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static std::string text(const std::string& characters) {
    return number(static_cast<uint16_t>(characters.size() + 1)) + characters + '\0';
  }
  static uint8_t type_of(float) { return 0; }
  static uint8_t type_of(int8_t) { return 1; }
  static uint8_t type_of(int16_t) { return 2; }
  static uint8_t type_of(int32_t) { return 3; }

  template <class Number>
  void add(const std::string& name, const std::vector<int64_t>& shape, std::span<const Number> values) {
    if (values.size_bytes() > UINT32_MAX)
      throw Error("{} has more than 4 GiB, which CTranslate2's format cannot hold: quantize the model first",
                  name);
    std::string bytes = text(name) + number(static_cast<uint8_t>(shape.size()));
    for (const int64_t size : shape) bytes += number(static_cast<uint32_t>(size));
    bytes += number(type_of(Number())) + number(static_cast<uint32_t>(values.size_bytes()));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    variables_[name] = std::move(bytes);
  }

  std::map<std::string, std::string> variables_, aliases_;
};

// --- The model --------------------------------------------------------------------------------------

void add_attributes(ModelBin& file, const ModelConfig& c) {
  const auto* const code = std::ranges::find(ctranslate2_activations, c.activation);
  CHECK(code != std::end(ctranslate2_activations), "an activation function without a code");
  for (const std::string stack : {"encoder/", "decoder/"}) {
    const int64_t heads = stack == "encoder/" ? c.heads : decoder_heads(c);
    file.add_scalar(stack + "num_heads", static_cast<int16_t>(heads));
    file.add_scalar(stack + "pre_norm", static_cast<int8_t>(c.norm == NormOrder::pre));
    file.add_scalar(stack + "activation", static_cast<int8_t>(code - std::begin(ctranslate2_activations)));
    if (c.embedding_scale == 0) {
      file.add_scalar(stack + "scale_embeddings", int8_t{1});
    } else {
      file.add_scalar(stack + "scale_embeddings", static_cast<float>(c.embedding_scale));
    }
  }
  file.add_scalar("encoder/embeddings_merge", int8_t{0});
  file.add_scalar("decoder/alignment_layer", static_cast<int16_t>(c.alignment_layer - 1));
  file.add_scalar("decoder/alignment_heads", int16_t{1});
  file.add_scalar("decoder/start_from_zero_embedding", static_cast<int8_t>(c.zero_start));
}

// Tensor2tensor's from 1 are what CTranslate2 computes where it has no table.
void add_computed_positions(ModelBin& file, const ModelConfig& c) {
  if (has_fixed_length(c.positions) || !is_added(c.positions)) return;
  if (c.positions == Positions::tensor2tensor && c.position_offset == 1) return;
  std::vector<float> table;
  for (int64_t position = 0; position < computed_positions; ++position)
    for (int64_t column = 0; column < c.d_model; ++column)
      table.push_back(
          static_cast<float>(position_value(c.positions, c.position_offset + position, column, c.d_model)));
  file.add_floats(encoder_positions, {computed_positions, c.d_model}, table);
  file.add_alias(decoder_positions, encoder_positions);
}

// What each attention says of itself: the width of its heads, and T5's bias, which the first layer has for all.
void add_attentions(ModelBin& file, const ModelConfig& c) {
  for (const auto& [stack, layers] :
       {std::pair<std::string, int64_t>("encoder", c.encoder_layers), {"decoder", c.decoder_layers}}) {
    for (int64_t i = 0; i < layers; ++i) {
      const std::string layer = fmt::format("{}/layer_{}", stack, i);
      if (c.head_width > 0) {
        file.add_scalar(layer + "/self_attention/head_dim", static_cast<int32_t>(c.head_width));
        if (stack == "decoder")
          file.add_scalar(layer + "/attention/head_dim", static_cast<int32_t>(c.head_width));
      }
      if (c.positions != Positions::t5) continue;
      file.add_scalar(layer + t5_distance, static_cast<int32_t>(c.max_distance));
      if (i > 0) file.add_alias(layer + t5_bias, stack + "/layer_0" + t5_bias);
    }
  }
}

void check_expressible(const SavedModel& model) {
  const ModelConfig& c = model.model.config;
  const auto refuse = [&](const char* what) {
    throw Error("{}: CTranslate2 has no {}: this model stays here", model.folder, what);
  };
  if (has_ssru(c)) refuse("SSRU decoder (model.decoder_self_attention)");
  if (c.query_key_norm) refuse("normalised queries and keys (model.query_key_norm)");
  if (c.positions == Positions::rotary || c.positions == Positions::alibi)
    refuse("encoder-decoders with rotary positions or ALiBi (model.positions)");
  if (c.positions == Positions::none && c.relative_distance == 0)
    refuse("encoder-decoders without positions (model.positions)");
  if (c.positions != Positions::none && c.relative_distance > 0)
    refuse("relative distances beside other positions (model.relative_distance)");
}

ModelBin model_bin(SavedModel& model) {
  const ModelConfig& c = model.model.config;
  ModelBin file;
  add_attributes(file, c);
  add_computed_positions(file, c);
  add_attentions(file, c);
  for (const Parameter& parameter : model.model.parameters.list())
    file.add_tensor(ctranslate2_name(parameter.name), exported(model.device, parameter));
  if (has_shared_embedding(c)) file.add_alias(encoder_embedding, decoder_embedding);
  if (!has_own_generator(c)) file.add_alias(generator, decoder_embedding);
  return file;
}

// --- The tokens -------------------------------------------------------------------------------------

void check_marks(const SavedModel& model) {
  const Vocabulary &source = *model.vocabularies.source, &target = *model.vocabularies.target;
  const SpecialTokens &ours = source.special(), &theirs = target.special();
  if (ours.end < 0 || theirs.end < 0)
    throw Error("export: {} has a vocabulary without an end mark, which other systems need", model.folder);
  if (source.piece(ours.end) != target.piece(theirs.end) ||
      source.piece(ours.unknown) != target.piece(theirs.unknown))
    throw Error(
        "export --format ctranslate2: the vocabularies of {} have different marks, {} and {}, {} and {}",
        model.folder, source.piece(ours.end), target.piece(theirs.end), source.piece(ours.unknown),
        target.piece(theirs.unknown));
}

void write_tokens(const std::string& path, const Vocabulary& vocabulary) {
  nlohmann::json tokens = nlohmann::json::array();
  for (int32_t id = 0; id < vocabulary.size(); ++id) tokens.push_back(vocabulary.piece(id));
  write_file(path, {tokens.dump(1)});
}

std::string listed(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : " ") + vocabulary.piece(id);
  return text;
}

// The shortlist, if there is one: a line for each source token, and one for every sentence.
void write_vmap(const std::string& path, const SavedModel& model) {
  if (!std::filesystem::exists(model.folder + "/shortlist.safetensors")) return;
  const Vocabulary &source = *model.vocabularies.source, &target = *model.vocabularies.target;
  const Shortlist shortlist = Shortlist::read(model.folder, model.vocabularies);
  const std::vector<int32_t> always = shortlist.words_for({}, {});
  std::string text = "\t" + listed(target, always) + "\n";
  for (int32_t id = 0; id < source.size(); ++id) {
    const std::vector<int32_t> words = shortlist.words_for(std::span(&id, 1), {});
    std::vector<int32_t> own;
    std::ranges::set_difference(words, always, std::back_inserter(own));
    if (!own.empty()) text += source.piece(id) + "\t" + listed(target, own) + "\n";
  }
  write_file(path, {text});
}

void write_config(const std::string& folder, const SavedModel& model) {
  const Vocabulary& target = *model.vocabularies.target;
  const SpecialTokens& special = target.special();
  const nlohmann::json config = {{"add_source_bos", false},
                                 {"add_source_eos", model.readers[0].end_mark},
                                 {"bos_token", target.piece(special.start)},
                                 {"decoder_start_token", target.piece(special.start)},
                                 {"eos_token", target.piece(special.end)},
                                 {"layer_norm_epsilon", model.model.config.norm_eps},
                                 {"multi_query_attention", false},
                                 {"unk_token", target.piece(special.unknown)}};
  write_file(folder + "/config.json", {config.dump(1)});
}

// What a caller must do with outputs, since the format has no place for it.
void add_notes_of_target(const Vocabulary& target, std::vector<std::string>& notes) {
  if (!target.languages().names().empty())
    notes.emplace_back(
        "the caller begins each source with its language's token, and forces the target's with "
        "target_prefix");
  if (!target.forced_prefix().empty())
    notes.push_back(
        fmt::format("the caller forces the beginning of each output with target_prefix, {}, and "
                    "removes it from the text",
                    listed(target, target.forced_prefix())));
  if (!target.suppressed().empty())
    notes.push_back(
        fmt::format("the caller excludes tokens that are never output with suppress_sequences: {}",
                    shortened(listed(target, target.suppressed()))));
}

std::vector<std::string> notes_of(const SavedModel& model) {
  const SearchOptions& search = model.search;
  std::vector<std::string> notes = {
      fmt::format("pieces of the .spm files are the tokens; sources {}",
                  model.readers[0].end_mark ? "get their end mark through config.json" : "have no end mark")};
  if (search.penalty_form == LengthPenalty::plain) {
    notes.push_back(fmt::format("for the same search as here, use beam_size={} and length_penalty={}",
                                search.beam, search.length_penalty));
  } else {
    notes.push_back(
        fmt::format("CTranslate2 has no GNMT length penalty: beam_size={} with length_penalty=1 is closest",
                    search.beam));
  }
  if (names_target(*model.vocabularies.source))
    notes.emplace_back("the caller begins each source with the target language, as a word of its own");
  add_notes_of_target(*model.vocabularies.target, notes);
  note_tokenizer(model.vocabularies, notes);
  return notes;
}

}  // namespace

std::vector<std::string> export_ctranslate2(SavedModel& model, const std::string& folder) {
  check_marks(model);
  check_expressible(model);
  const ModelBin file = model_bin(model);
  make_folder(folder);
  write_vocabularies(folder, model.vocabularies);
  if (model.vocabularies.shared()) {
    write_tokens(folder + "/shared_vocabulary.json", *model.vocabularies.target);
  } else {
    write_tokens(folder + "/source_vocabulary.json", *model.vocabularies.source);
    write_tokens(folder + "/target_vocabulary.json", *model.vocabularies.target);
  }
  write_vmap(folder + "/vmap.txt", model);
  file.write(folder + "/model.bin");
  write_config(folder, model);
  return notes_of(model);
}

}  // namespace dragoman::internal
