// The Transformer of "Attention Is All You Need" (Vaswani et al., 2017), sections 3.1 to 3.5.
//
// The structs say what it consists of, the functions below what it computes. A batch is packed: an activation
// is a matrix with a row for each token, and Spans say which rows are a sentence. Training scores all positions
// of the targets at once; decoding goes through the same functions a token at a time, with a cache.
#pragma once

#include <span>
#include <vector>

#include "model/cache.h"
#include "model/config.h"
#include "nn/distance_bias.h"
#include "nn/layers.h"
#include "nn/positions.h"

namespace dragoman::internal {

struct Embedding {  // 3.4 and 3.5: tokens times √d_model, plus their positions
  Tensor tokens;    // vocabulary × d_model
  PositionTable positions;
  Norm norm;  // of the sum, with embedding_norm only
};

struct AttentionPositions {  // of a stack's self-attentions, where the embeddings have none
  PositionTable angles;      // rotary
  DistanceBias bias;         // ALiBi's or T5's
};

struct FeedForward {  // 3.3: max(0, x·W1 + b1)·W2 + b2
  Norm norm;
  Linear inner, outer;
  Linear value;  // gated: (max(0, x·W1 + b1) ∘ (x·V + c))·W2 + b2 (Shazeer, 2020)
};

struct SelfAttention {  // 3.2.2: W^Q, W^K and W^V of all heads are one matrix, and W^O
  Norm norm;
  Linear qkv, output;
  int64_t heads;
  Tensor distance_keys, distance_values;  // with relative_distance only (Shaw et al., 2018)
};

struct Ssru {  // f = σ(x·W_f + b_f); c = f·c + (1 − f)·(x·W + b); relu(c), token by token
  Norm norm;
  Linear gate_and_input;          // W_f and W are one matrix
  bool learns_input_bias = true;  // or else b stays as it was initialised, 0
};

struct CrossAttention {  // 3.2.3: queries from the decoder, keys and values from the encoder
  Norm norm;
  Linear query, key_value, output;
  int64_t heads;
};

struct EncoderLayer {
  SelfAttention self_attention;
  FeedForward feed_forward;
};

struct DecoderLayer {
  SelfAttention self_attention;
  Ssru ssru;                       // or this instead
  CrossAttention cross_attention;  // not in a language model
  FeedForward feed_forward;
};

struct Transformer {
  // Weights are zero until they are initialised or read. With Buffers::none_yet, read_weights() allocates them once it
  // has checked that the file fits.
  Transformer(const ModelConfig& config, Device& device, Buffers buffers);
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  ModelConfig config;
  Device& device;
  Parameters parameters;
  Embedding source_embedding, target_embedding;
  AttentionPositions encoder_positions, decoder_positions;
  std::vector<EncoderLayer> encoder;  // a language model has none, nor a source embedding
  std::vector<DecoderLayer> decoder;
  Norm encoder_norm, decoder_norm;  // at the end of each stack, with pre-norm only
  Linear generator;                 // vocabulary × d_model; the embedding itself if they are tied
};

// The encoder's output, a row for each source token.
Tensor encode(Pass&, Transformer&, const Tokens& source);

// The decoder's output: a row for each target token, which attends to the tokens before it and all of its source. With
// a step, the tokens are the next ones of their sentences. A language model does not look at the source.
Tensor decode(Pass&, Transformer&, const Tokens& target, const EncodedSource& memory,
              const CacheStep* step = nullptr);

// What the decoder needs of the sources, which must outlive it: nothing in a language model.
EncodedSource memory_of(Pass&, Transformer&, const Tokens& source);

// Computes the cross-attention's keys and values of the encoder's output, once for all steps of decoding, and stores
// them in rows of a cache, one for each source token.
void cache_cross_attention(Pass&, const Transformer&, const Tensor& encoded, Cache&,
                           std::span<const int32_t> rows);

// The losses of a batch, two for each target token (see cross_entropy).
Tensor loss(Pass&, Transformer&, const Tokens& source, const Tokens& target, const Array<int32_t>& targets,
            Smoothing);

// The logits of the whole vocabulary after each token.
Tensor next_word_logits(Pass&, const Transformer&, const Tensor& decoded);

// --- The pieces of encode() and decode(), one at a time. x has a row for each token, and layers are counted from 0. A
// sublayer comes without its norm and residual connection, which model/residual.h puts around it.

enum class Stack { encoder, decoder };

Tensor embed_tokens(Pass&, Transformer&, Stack, const Tokens&);
// Of a decoder masked: a token sees those up to itself. Or the recurrent unit in its place.
Tensor self_attention(Pass&, Transformer&, Stack, size_t layer, const Tensor& x, const Tokens&);
Tensor cross_attention(Pass&, const Transformer&, size_t layer, const Tensor& x, const Tokens&,
                       const EncodedSource& memory);
Tensor feed_forward(Pass&, const Transformer&, Stack, size_t layer, const Tensor& x, const Tokens&);

}  // namespace dragoman::internal
