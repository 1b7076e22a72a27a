#include "convert/marian/config.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const Settings& s, const char* key) {
  throw Error("{}: {} = {} is not supported", s.path(), key, in_quotes(s.values()[key].dump()));
}

void require_text(const Settings& s, const char* key, const std::string& supported) {
  if (s.text(key, supported) != supported) refuse(s, key);
}

void require_one_of(const Settings& s, const char* key, int64_t supported, int64_t also) {
  if (const int64_t value = s.integer(key, supported); value != supported && value != also) refuse(s, key);
}

// [1, 2, 3]: each layer is its own.
void require_no_tied_layers(const Settings& s) {
  const char* key = "transformer-tied-layers";
  if (!s.has(key)) return;
  int64_t layer = 0;
  for (const json& tied : s.values()[key])
    if (tied != ++layer) refuse(s, key);
}

// Options that change the arithmetic and are not handled below.
void refuse_what_is_not_supported(const Settings& s) {
  require_text(s, "type", "transformer");
  for (const char* key :
       {"transformer-no-projection", "transformer-pool", "transformer-disable-position-embeddings",
        "transformer-no-bias", "transformer-no-affine", "output-omit-bias", "right-left", "ulr"})
    s.require(key, false);
  require_text(s, "transformer-attention-mask", "default");
  require_one_of(s, "transformer-ffn-depth", 2, 2);
  require_one_of(s, "transformer-decoder-ffn-depth", 0, 2);
  require_one_of(s, "lemma-dim-emb", 0, 0);
  require_one_of(s, "factors-dim-emb", 0, 0);
  require_text(s, "lemma-dependency", "");
  require_no_tied_layers(s);
}

// Letters of what is done before or after something: d drops, which only training does.
std::string steps(const Settings& s, const char* key, const char* otherwise) {
  std::string letters = s.text(key, otherwise);
  std::erase(letters, 'd');
  return letters;
}

NormOrder norm_of(const Settings& s) {
  const std::string before = steps(s, "transformer-preprocess", ""),
                    after = steps(s, "transformer-postprocess", "dan"),
                    top = steps(s, "transformer-postprocess-top", "");
  if (before == "" && after == "an" && top == "") return NormOrder::post;
  if (before == "n" && after == "a" && top == "n") return NormOrder::pre;
  throw Error(
      "{}: transformer-preprocess {}, transformer-postprocess {} and transformer-postprocess-top {} are not "
      "supported together: only norms after each sublayer (dan), or before each and at the top (n, da, n)",
      s.path(), in_quotes(s.text("transformer-preprocess", "")),
      in_quotes(s.text("transformer-postprocess", "dan")),
      in_quotes(s.text("transformer-postprocess-top", "")));
}

bool has_embedding_norm(const Settings& s) {
  const char* key = "transformer-postprocess-emb";
  const std::string letters = steps(s, key, "d");
  if (letters != "" && letters != "n") refuse(s, key);
  return letters == "n";
}

DecoderSelfAttention self_attention_of(const Settings& s) {
  const char* key = "transformer-decoder-autoreg";
  const std::string kind = s.text(key, "self-attention");
  if (kind == "self-attention") return DecoderSelfAttention::attention;
  if (kind != "rnn") refuse(s, key);
  require_text(s, "dec-cell", "ssru");
  for (const char* unsupported :
       {"transformer-rnn-projection", "layer-normalization", "nematus-normalization"})
    s.require(unsupported, false);
  return DecoderSelfAttention::ssru;
}

// "v1.12.42 b7be0e9 ...": the functions of gelu before 1.12, which Bergamot's fork kept, are approximations.
bool is_before_1_12(const std::string& version) {
  int minor = 0;
  const std::string_view expected = "v1.";
  if (!version.starts_with(expected)) return true;
  std::from_chars(version.data() + expected.size(), version.data() + version.size(), minor);
  return minor < 12;
}

Activation activation_of(const Settings& s) {
  const char* key = "transformer-ffn-activation";
  const std::string name = s.text(key, "swish");
  if (name == "swish") return Activation::swish;
  if (name == "relu") return Activation::relu;
  if (name != "gelu") refuse(s, key);
  return is_before_1_12(s.text("version", "")) ? Activation::gelu_sigmoid : Activation::gelu;
}

Tied tied_of(const Settings& s) {
  if (!s.flag("tied-embeddings", false) && !s.flag("tied-embeddings-all", false))
    return has_shared_embeddings(s) ? Tied::inputs : Tied::none;
  return has_shared_embeddings(s) ? Tied::all : Tied::output;
}

std::pair<int64_t, int64_t> vocabularies_of(const Settings& s) {
  const char* key = "dim-vocabs";
  const json sizes = s.has(key) ? s.values()[key] : json();
  const auto is_size = [](const json& size) {
    return size.is_number_integer() && size > 0 && size <= 100'000'000;
  };
  if (!sizes.is_array() || sizes.size() != 2 || !is_size(sizes[0]) || !is_size(sizes[1]))
    throw Error("{}: {} must be the sizes of two vocabularies, but is {}", s.path(), key,
                in_quotes(sizes.dump()));
  return {sizes[0], sizes[1]};
}

}  // namespace

int64_t guided_layer_of(const Settings& s, const std::optional<Settings>& training) {
  const char* key = "transformer-guided-alignment-layer";
  if (training && training->text("guided-alignment", "none") == "none") return 0;
  const json last = "last", layer = s.has(key) ? s.values()[key] : last;
  if (layer == last) return training ? s.integer("dec-depth") : 0;
  if (!layer.is_number_integer() || layer < 1 || layer > s.integer("dec-depth")) refuse(s, key);
  return layer;
}

bool has_shared_embeddings(const Settings& s) {
  return s.flag("tied-embeddings-all", false) || s.flag("tied-embeddings-src", false);
}

// transformer-train-position-embeddings has no effect in translation models of Marian.
ModelConfig marian_config(const Settings& s) {
  refuse_what_is_not_supported(s);
  ModelConfig config = {.encoder_layers = s.integer("enc-depth"),
                        .decoder_layers = s.integer("dec-depth"),
                        .d_model = s.integer("dim-emb"),
                        .heads = s.integer("transformer-heads"),
                        .d_ff = s.integer("transformer-dim-ffn"),
                        .decoder_d_ff = s.integer("transformer-decoder-dim-ffn", 0),
                        .decoder_self_attention = self_attention_of(s),
                        .ssru_input_bias = self_attention_of(s) == DecoderSelfAttention::attention,
                        .norm = norm_of(s),
                        .norm_eps = 1e-6,
                        .activation = activation_of(s),
                        .positions = Positions::tensor2tensor,
                        .embedding_norm = has_embedding_norm(s),
                        .zero_start = true,
                        .tied = tied_of(s)};
  config.tied_bias = !has_own_generator(config);
  std::tie(config.source_vocabulary, config.target_vocabulary) = vocabularies_of(s);
  if (has_shared_embeddings(s) && config.source_vocabulary != config.target_vocabulary)
    throw Error("{}: dim-vocabs has {} and {} tokens, but the embeddings are shared", s.path(),
                config.source_vocabulary, config.target_vocabulary);
  try {
    validate(config);
  } catch (const OptionError& error) {
    throw Error("{}: {}", s.path(), error.what());
  }
  return config;
}

}  // namespace dragoman::internal
