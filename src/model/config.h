// The configuration of a Transformer: every choice that changes its parameters or its arithmetic.
//
// The defaults are the base model of "Attention Is All You Need", but with pre-norm, as in today's models.
// docs/variants.md says which article makes which choice.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/options.h"
#include "kernels/kernels.h"
#include "nn/layers.h"
#include "nn/positions.h"

namespace dragoman::internal {

// translation: an encoder and a decoder, the paper's. language_model: the decoder alone, without cross-attention.
enum class ModelKind { translation, language_model };

// pre: x + Sublayer(LayerNorm(x)), and each stack ends with a norm. post, the paper's: LayerNorm(x + Sublayer(x)).
enum class NormOrder { pre, post };

// attention, the paper's; or the SSRU of Marian's small models, whose state stands in for the tokens before.
enum class DecoderSelfAttention { attention, ssru };

// Which of source embedding, target embedding and generator share one matrix. inputs: the first two. output: the last
// two. all: all three.
enum class Tied { none, inputs, output, all };

// normal: N(0, d_model^-0.5). unit: N(0, 1), as torch.nn.Embedding.
enum class EmbeddingInitialiser { normal, xavier, unit };

struct ModelConfig {
  ModelKind kind = ModelKind::translation;
  int64_t encoder_layers = 6;
  int64_t decoder_layers = 6;
  int64_t d_model = 512;
  int64_t heads = 8;
  int64_t d_ff = 2048;
  int64_t head_width = 0;
  int64_t decoder_heads = 0;
  int64_t decoder_d_ff = 0;
  DecoderSelfAttention decoder_self_attention = DecoderSelfAttention::attention;
  bool ssru_input_bias = true;
  NormOrder norm = NormOrder::pre;
  NormKind norm_kind = NormKind::layer;
  double norm_eps = 1e-6;
  Activation activation = Activation::relu;
  bool gated = false;
  Positions positions = Positions::sinusoidal;
  int64_t position_offset = 0;
  int64_t max_positions = 512;
  double rotary_base = default_base;
  int64_t position_buckets = 32;
  int64_t max_distance = 128;
  int64_t relative_distance = 0;
  bool query_key_norm = false;
  double embedding_scale = 0;
  bool embedding_norm = false;
  bool zero_start = false;
  Tied tied = Tied::none;
  bool tied_bias = false;
  Initialiser initialiser = Initialiser::xavier;
  EmbeddingInitialiser embedding_initialiser = EmbeddingInitialiser::normal;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double activation_dropout = 0;
  double embedding_dropout = 0.1;

  // Set once the vocabularies are known: saved with the rest, but not options.
  int64_t source_vocabulary = 0;
  int64_t target_vocabulary = 0;

  // Likewise: the decoder's layer, from 1 on, whose first head of cross-attention has learned a word aligner's links;
  // 0: none has. It says which attention aligns words best, and changes no arithmetic.
  int64_t alignment_layer = 0;
};

inline bool has_encoder(const ModelConfig& c) { return c.kind == ModelKind::translation; }
inline int64_t encoder_layers(const ModelConfig& c) { return has_encoder(c) ? c.encoder_layers : 0; }
inline bool has_shared_embedding(const ModelConfig& c) {
  return c.tied == Tied::inputs || c.tied == Tied::all;
}
inline bool has_own_generator(const ModelConfig& c) { return c.tied == Tied::none || c.tied == Tied::inputs; }
// What the decoder has: where its own number is 0, the encoder's.
inline int64_t decoder_heads(const ModelConfig& c) { return c.decoder_heads > 0 ? c.decoder_heads : c.heads; }
inline int64_t decoder_d_ff(const ModelConfig& c) { return c.decoder_d_ff > 0 ? c.decoder_d_ff : c.d_ff; }
// Queries, keys and values of this many heads side by side.
inline int64_t attention_width(const ModelConfig& c, int64_t heads) {
  return c.head_width > 0 ? heads * c.head_width : c.d_model;
}
// The matrices of a feed-forward layer, each d_model × d_ff.
inline int64_t feed_forward_matrices(const ModelConfig& c) { return c.gated ? 3 : 2; }
inline bool has_ssru(const ModelConfig& c) { return c.decoder_self_attention == DecoderSelfAttention::ssru; }
// Columns of the decoder's caches (model/cache.h): of the source, and of the target so far.
inline int64_t source_cache_columns(const ModelConfig& c) { return 2 * attention_width(c, decoder_heads(c)); }
inline int64_t target_cache_columns(const ModelConfig& c) {
  return has_ssru(c) ? c.d_model : source_cache_columns(c);
}

// The same model as it computes outside training, with gradients, too.
ModelConfig without_dropout(ModelConfig config);

void declare(Options& options, ModelConfig& config);

// Throws an OptionError that names the first key whose value is invalid, alone or with the others. The ranges of a
// configuration read through options are checked already; those of one written in code are checked here first.
void validate(const ModelConfig& config);

// One flat object with every value, for config.json; and back. A missing key has its default.
nlohmann::json to_json(const ModelConfig& config);
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& path);

}  // namespace dragoman::internal
