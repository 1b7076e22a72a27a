// The differentiable functions: the boxes of the paper's first figure.
//
// Each has a file of its own, its backward beside its forward. If the pass has a tape, an op records a closure that
// adds to the gradients of its inputs; the Tokens and Spans given to it must outlive that tape. A matrix has a row for
// each token.
#pragma once

#include "kernels/kernels.h"
#include "ops/pass.h"

namespace dragoman::internal {

// dropout(scale · table[id] + positions[position]), a row for each token (embed.cpp); `positions` may be nothing.
// Gradients flow into the table, and into `positions` where it is trained.
struct EmbedOptions {
  float scale = 1;
  float dropout = 0;
  bool zero_start = false;  // a sentence's first token adds nothing to its position
};
Tensor embed(Pass&, const Tokens&, const Tensor& table, const Tensor& positions, const EmbedOptions&);

// A parameter's rows of these numbers, some of them several times (look_up.cpp).
Tensor look_up(Pass&, const Tensor& table, const Array<int32_t>& rows);

// dropout(activation(x·weight + bias)) (linear.cpp). weight: in × out; bias: 1 × out, or nothing.
struct LinearOptions {
  Activation activation = Activation::none;
  float dropout = 0;
  const Array<RowKey>* rows = nullptr;  // of x, for dropout
  // Whether all that read y take it in bf16 alone: products, attention where attends_in_bf16(), sums with a residual.
  bool for_bf16 = false;
};
Tensor linear(Pass&, const Tensor& x, const Tensor& weight, const Tensor& bias, const LinearOptions& = {});

// x without some of its elements, and the others larger; x itself where nothing drops (dropout.cpp). x: whole rows.
Tensor dropout(Pass&, const Tensor& x, float rate, const Array<RowKey>& rows);

// a · b, element by element (multiply.cpp). Each has one use.
Tensor multiply_elements(Pass&, const Tensor& a, const Tensor& b);

// LayerNorm(x) (norm.cpp). gain, bias: 1 × width; without a bias, RMSNorm(x), as in all functions below. for_products:
// nothing else reads what has been normalised.
Tensor norm(Pass&, const Tensor& x, const Tensor& gain, const Tensor& bias, float epsilon,
            bool for_products = false);

// sum = residual + dropout(branch), normed = LayerNorm(sum), in one pass over memory (norm.cpp).
struct SumAndNorm {
  Tensor sum, normed;
};
SumAndNorm add_dropout_norm(Pass&, const Tensor& residual, const Tensor& branch, float dropout,
                            const Array<RowKey>& rows, const Tensor& gain, const Tensor& bias, float epsilon,
                            bool for_products = false);

// Frees `normed`, which is LayerNorm(sum), and recomputes it before backward reaches the ops that were recorded
// earlier, which may read it (norm.cpp).
void recompute_norm(Pass&, const SumAndNorm&, const Tensor& gain, const Tensor& bias, float epsilon);

// Rotary positions, in place (rotary.cpp): the columns (i, i + width/2) of each head are turned by the angle of the
// row's position. angles: a row for each position, as wide as a head, the cosines and then the sines. Nobody has read
// x yet.
void rotate(Pass&, const Tensor& x, const Tensor& angles, const Array<RowKey>& rows);

// x / √(mean of squares + ε) for each head of each row, in place (head_norm.cpp). Only rotate() has read x yet.
void normalise_heads(Pass&, const Tensor& x, int64_t width, float epsilon);

// softmax(q·kᵀ/√width + bias)·v for each head and span (attention.cpp). Heads stand side by side in the columns. The
// causal mask is aligned to the end of the keys: the last query sees all of them, the one before it all but one.
struct AttentionOptions {
  const Spans* queries = nullptr;
  const Spans* keys = nullptr;
  const Array<int32_t>* key_rows =
      nullptr;  // unless null, `keys` are spans of this list of rows: for decoding
  const Array<RowKey>* query_rows = nullptr;  // for dropout
  int64_t heads = 1;
  bool causal = false;
  float dropout = 0;
  // What is added by a key's distance from the query, unless nothing: a row for each, from the farthest before it to
  // the farthest after it, which also stand for keys still farther away. To scores, a column for each head:
  Tensor distance_bias = {};
  bool bias_learns = false;                         // whether its gradient is wanted
  Tensor distance_keys = {}, distance_values = {};  // to keys and values, for all heads (Shaw et al., 2018)
};
Tensor attention(Pass&, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions&);
// What its kernels are told, except for dropout.
AttentionShape attention_shape(const Tensor& q, const Tensor& k, const AttentionOptions&);
// Whether it takes q, k and v in bf16 alone, where heads are this wide and distances add nothing.
bool attends_in_bf16(const Pass&, int64_t width);

// softmax(q·kᵀ/√width + bias) itself, for inspection: it has no backward. A row for each query with its heads side by
// side, each as wide as the longest span of keys; 0 for masked keys and beyond the span.
Tensor attention_weights(Pass&, const Tensor& q, const Tensor& k, const AttentionOptions&);

// Guided alignment (Chen et al., 2016), for one head (guided_attention.cpp): the losses of its attention weights by
// what a word aligner links each query to, a row for each; 0 where it links nothing. Gradients are those of `weight`
// times their sum. q, k: the head's columns, in floats.
struct GuidedAttentionOptions {
  const Spans* queries = nullptr;
  const Spans* keys = nullptr;
  const TokenLinks* links = nullptr;  // of the queries
  float weight = 1;
};
Tensor guided_attention(Pass&, const Tensor& q, const Tensor& k, const GuidedAttentionOptions&);

// The states of simpler simple recurrent units (Kim et al., 2019), c[t] = f·c[t−1] + (1 − f)·x with f = σ(g), and
// relu(c) (ssru.cpp). gate_and_input: rows × (g | x), with one use. Each span begins with a state of 0; in a step of
// decoding, where it is one row, with that of the last but one of its keys.
struct SsruOptions {
  const Spans* spans = nullptr;
  Tensor seen = {};                          // the states of earlier steps
  const Spans* keys = nullptr;               // spans of
  const Array<int32_t>* key_rows = nullptr;  // a list of their rows
};
struct StatesAndOutput {
  Tensor states, output;
};
StatesAndOutput ssru(Pass&, const Tensor& gate_and_input, const SsruOptions&);

// The losses of predicting `targets` from hidden·weightᵀ + bias, two for each row: the cross-entropy with the
// smoothed target, and −log p(target) (cross_entropy.cpp). weight: vocabulary × width, as embeddings have it.
// Logits exist for a few rows at a time only; with a tape their gradients are computed along with them.
// `logits_per_chunk`: about how many, in whole rows and at least 64 rows; 0: as many as suit the device.
Tensor cross_entropy(Pass&, const Tensor& hidden, const Tensor& weight, const Tensor& bias,
                     const Array<int32_t>& targets, Smoothing, int64_t logits_per_chunk = 0);

// hidden·weightᵀ + bias, for decoding (cross_entropy.cpp).
Tensor logits(Pass&, const Tensor& hidden, const Tensor& weight, const Tensor& bias);

}  // namespace dragoman::internal
