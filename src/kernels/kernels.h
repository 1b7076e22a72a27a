// The kernel table: all operations that the engine runs on a processor.
//
// A kernel is a plain function over rows of 32-bit floats. One source is compiled once for each instruction set
// (cpu/table.cpp), and kernels_for() chooses among the tables when the program starts; a GPU fills the same table.
// Every pointer given to a kernel is to the memory of its device, results included; sum_of_squares alone returns a
// value to the host. Every kernel guarantees:
//
//   * A row's result depends on that row alone: not on its place, the number of rows or of threads.
//   * Work is split by shape; partial sums combine in the order of their index.
//   * An element of a product is one chain of multiply-adds over the inner index, ascending (AMX takes it in
//     groups of 32), so that no choice of tile, block or number of rows can change its bits.
//   * Workspace comes from the Context. Nothing is allocated after a warm-up.
//
// This header is included by files compiled for one instruction set: plain structs only, no inline
// library code (the linker might keep an AVX-512 copy of a standard function for everyone).
#pragma once

#include <cstdint>

#include "kernels/context.h"

namespace dragoman::internal {

class DeviceMemory;  // kernels/memory.h

// gelu is x·Φ(x); gelu_tanh and gelu_sigmoid are two approximations of it that models are trained with.
enum class Activation { none, relu, gelu, gelu_tanh, gelu_sigmoid, swish };

// Where label smoothing puts the probability ε that it takes from the target: on every word (ε/V each, the target
// included), or on the others (ε/(V−1) each).
enum class SmoothingOver { all, others };

// A read-only matrix. Element (i, j) is data[i * row_stride + j * column_stride]; one of the two strides is 1, and
// transposing swaps them.
//
// It may come with its elements in bf16, too, at the same places, for the products that read them so; or, where `data`
// is null, with these alone. Only tables that have LowPrecisionKernels::round are given either: they read floats where
// there are any, except in products, and write whatever there is.
struct ConstMatrix {
  const float* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride = 1;
  const uint16_t* rounded = nullptr;  // unless null, in bf16

  ConstMatrix transposed() const { return {data, columns, rows, column_stride, row_stride, rounded}; }
};

// A writable matrix: rows of `columns` floats, `stride` floats apart.
struct Matrix {
  float* data;
  int64_t rows, columns;
  int64_t stride;
  uint16_t* rounded = nullptr;  // as above

  operator ConstMatrix() const { return {data, rows, columns, stride, 1, rounded}; }
};

// The right operand of a product, in a layout that only its table of kernels knows.
struct PackedMatrix {
  const float* data;
  int64_t rows, columns;
};

// The precision of a model's matrix products. Training keeps everything in fp32 and may round the operands of a product
// to bf16 as they are packed; decoding may keep its weights in low precision, and rounds what they are multiplied with.
enum class Precision { fp32, bf16, int8 };

// The right operand of a product in low precision, in one layout for every instruction set, so that a file of it is
// used as it is mapped (kernels/low_precision.h makes it):
//
//   panels of 16 columns, the last one padded; in each, a line of 64 bytes for every 4 inner indices (int8) or
//   2 of them (bf16), the last one padded; in a line, 4 bytes for each column.
//
// An element w of an int8 column with the scale s is the byte round(w / s) + 128, from 1 to 255.
constexpr int64_t low_precision_panel_columns = 16, low_precision_line_bytes = 64,
                  low_precision_column_bytes = 4;
struct LowPrecisionMatrix {
  Precision precision;
  const unsigned char* data;  // aligned to 64 bytes
  const float* scales;        // int8: one for each column
  int64_t rows, columns;
};

// The sentence pair of the corpus that a row belongs to, and its token's position in the sentence.
struct RowKey {
  uint64_t pair;
  uint32_t position;
};

// A sentence of a packed batch: rows [begin, begin + length).
struct Span {
  int32_t begin;
  int32_t length;
};

// Dropout's masks are a function of (key, pair, position, column): recomputed where they are needed,
// never stored. The key is a hash of the seed, the update's number and the op's number.
struct Dropout {
  float rate = 0;  // 0: none, and rows may be null
  uint32_t key[2] = {0, 0};
  const RowKey* rows = nullptr;
};

// What a product does with a finished row, in this order.
struct Epilogue {
  bool accumulate = false;  // add to the output: its chain of multiply-adds goes on
  const float* bias = nullptr;
  const uint16_t* rounded_bias = nullptr;  // the same in bf16: with a bias, where the output is in bf16 alone
  // Unless null, the activation's input is saved here (dense); in bf16 where the output is in bf16 alone.
  float* before_activation = nullptr;
  uint16_t* rounded_before_activation = nullptr;
  Activation activation = Activation::none;
  Dropout dropout = {};
};

// Attention of heads side by side: head h is columns [h * width, (h + 1) * width) of every matrix.
// Query row i of a span of m is at position p = n - m + i among its span's n keys, and attends to the first p + 1 of
// them if causal, else to all.
struct AttentionShape {
  const Span* queries;
  const Span* keys;
  const int32_t*
      key_rows;  // null, or the list of rows that `keys` are spans of: one query a span, no log_sums
  int64_t spans;
  int64_t longest_keys;
  int64_t heads;
  int64_t width;
  float scale;
  bool causal;
  Dropout dropout;  // by (pair, position of the query, head and index of the key)
  // Unless its data is null, what each head adds to scores by distance: row r is for the key at p + r - (rows - 1) / 2,
  // and the first and the last row are for all keys farther away, too.
  ConstMatrix distance_bias = {};
  // Unless their data is null, what is added to keys and values by distance, for all heads: rows as above, as wide as a
  // head. Where distances add anything, a span has no more queries than keys.
  ConstMatrix distance_keys = {}, distance_values = {};
};

// The keys that a word aligner links each query to: of row r, those with the numbers keys[begins[r]] to
// keys[begins[r + 1] - 1] of its span, each once.
struct QueryLinks {
  const int32_t* begins;
  const int32_t* keys;
};

// Of what distances add; null where it is not wanted.
struct DistanceGradients {
  Matrix bias, keys, values;
};

// Sentences, whose states follow one another. Before the first row of a span the state is 0; or, in a step of decoding,
// that of the last but one of its keys, which are as in AttentionShape.
struct SsruShape {
  const Span* spans;
  int64_t spans_count;
  const Span* keys;
  const int32_t* key_rows;  // null: not a step of decoding
};

// States that each row's own state is compared with, and the words that followed them. Of states q and k the distance
// is |q − k|² / (|q|² + |k|²): 0 for equal ones, about 1 for unrelated ones, whatever the model's width and scale.
struct NearestShape {
  const Span* spans;     // of each row: of the two lists; without any it stays as it is
  const int32_t* rows;   // of the matrix of known states
  const int32_t* words;  // columns of the log-probabilities; equal ones of a span stand together
  float temperature;     // known states count by e^(−distance / temperature)
  float reach;           // the share falls from `most` at the distance 0 to nothing at this one
  float most;            // below 1
};

// Some columns of a row.
struct ColumnList {
  const int32_t* columns;
  int64_t count;
};

// An element of a row; column −1: none.
struct Element {
  int32_t column;
  float value;
};

struct Smoothing {
  float amount;
  SmoothingOver over;
};

struct AdamStep {
  float learning_rate, beta1, beta2, epsilon;
  float correction1, correction2;  // 1 − β1^t, 1 − β2^t
  float weight_decay = 0;          // of every weight, times the learning rate
};

// constant · I + linear · a + quadratic · a², of a symmetric matrix a. With `of_unit_norm` a is divided by its norm ν
// (Frobenius's) first, and the result by √ν: where a = b·bᵀ, and the result is to be multiplied with b, that is as if b
// were b / √ν, whose singular values are at most 1.
struct Polynomial {
  float constant, linear, quadratic;
  bool of_unit_norm = false;
};

// c = a·b, or c + a·b: one of many.
struct SmallProduct {
  ConstMatrix a, b;
  Matrix c;
  bool accumulate = false;
};

// Products of matrices of floats.
struct ProductKernels {
  // Floats that `pack` writes for a right operand of this size.
  int64_t (*packed_size)(int64_t rows, int64_t columns);
  void (*pack)(Context&, ConstMatrix b, float* packed);
  // c = a·b, or c + a·b; then the epilogue, row by row.
  void (*product)(Context&, ConstMatrix a, PackedMatrix b, Matrix c, const Epilogue&);
  // The same for a b that is used once: it is packed block by block, and each block stays in the cache.
  void (*multiply)(Context&, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue&);
  // Many small ones, at least one row by one column each, with the bits that each has alone. None reads what another
  // one writes. The list itself is in the host's memory.
  void (*multiply_each)(Context&, const SmallProduct* products, int64_t count);
};

// Products whose speed depends on instructions that only some processors of a table have.
struct LowPrecisionKernels {
  // c = a·b; then the epilogue, without accumulation and dropout. For int8, each row of a is rounded to 127 steps on
  // either side of zero, by its own largest element; sums are exact, so that every table computes the same bits.
  void (*int8)(Context&, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c, const Epilogue&);
  void (*bf16)(Context&, ConstMatrix a, const LowPrecisionMatrix& b, Matrix c, const Epilogue&);
  // Products of floats that rounds both operands to bf16 as they are packed; sums are floats. Every table computes the
  // same bits, except for numbers below 2^-126, and except AMX's, which adds in another order.
  ProductKernels rounded;
  // Where these products read a rounded operand that comes with a matrix: rounds a matrix whose rows are contiguous, to
  // the same places. Null where they round as they pack, and read floats alone.
  void (*round)(Context&, ConstMatrix from, uint16_t* to);
  // Whether attention and its backward take q, k and v in bf16 alone, for heads of this width, without distances and
  // lists of keys. Null: never.
  bool (*attends_in_bf16)(int64_t width);
  // Whether instructions for bf16 compute them. Others multiply the rounded floats: the same bits (but AMX's), as fast
  // as products of floats.
  bool rounded_is_fast;
};

struct Kernels {
  const char* name;

  // What they run on: a context that the caller owns, for this many threads of the host; and the memory that they read
  // and write.
  Context* (*new_context)(int threads);
  DeviceMemory& (*memory)();

  // About how many logits training computes at once before it turns them into gradients: few enough for the memory, and
  // enough to keep all of the device busy.
  int64_t logits_per_chunk;

  // --- products.inl.h ---------------------------------------------------------------------------
  ProductKernels products;

  // --- low_precision.inl.h (and products.inl.h) --------------------------------------------------------
  LowPrecisionKernels low_precision;
  // out[r] = column columns[r] of b, in floats: a row of the table that b is the transpose of
  void (*widen_columns)(Context&, const LowPrecisionMatrix& b, const int32_t* columns, Matrix out);
  // Makes a matrix of b's columns columns[0 ... count), in b's precision. data and, for int8, scales: as
  // kernels/low_precision.h sizes them. Null where a product with some columns may have other bits than with all: on
  // GPUs, whose library chooses by their number.
  void (*gather_columns)(Context&, const LowPrecisionMatrix& b, const int32_t* columns, int64_t count,
                         unsigned char* data, float* scales);

  // --- activations.inl.h ------------------------------------------------------------------------
  // gradient: that of the output on entry, that of the input on return, and then also rounded, if it comes with such a
  // copy. `saved` is the activation's output for relu, its input for the others. bias_gradient (or null) is added to.
  void (*activation_backward)(Context&, Activation, ConstMatrix saved, Matrix gradient, const Dropout&,
                              float* bias_gradient);

  // --- embedding.inl.h --------------------------------------------------------------------------
  // out[r] = dropout(scale · table[ids[r]] + position_table[position of r]); no position_table: null data. With
  // zero_start 0 stands for the scale at position 0.
  void (*embed)(Context&, const int32_t* ids, const RowKey* rows, ConstMatrix table,
                ConstMatrix position_table, float scale, bool zero_start, const Dropout&, Matrix out);
  // Adds to both tables' gradients (either may have null data), token after token.
  void (*embed_backward)(Context&, const int32_t* ids, const RowKey* rows, ConstMatrix gradient, float scale,
                         bool zero_start, const Dropout&, Matrix table_gradient, Matrix position_gradient);

  // rows *= the mask's multipliers: 0 or 1 / (1 − rate)
  void (*drop)(Context&, const Dropout&, Matrix rows);

  // --- norm.inl.h -------------------------------------------------------------------------------
  // sum = residual + dropout(branch); normed = (sum − mean) / √(variance + ε) · gain + bias.
  // Without a bias (null) it is RMSNorm, with 0 for the mean: sum / √(mean of squares + ε) · gain.
  // Without a branch (null data) sum is the residual and is not written. statistics: mean, 1/√(…) a row. normed is also
  // written rounded, if it comes with such a copy.
  void (*add_dropout_norm)(Context&, ConstMatrix residual, ConstMatrix branch, const Dropout&,
                           const float* gain, const float* bias, float epsilon, Matrix sum, Matrix normed,
                           float* statistics);
  // From the gradient of normed to that of sum: written to sum_gradient, or added to what it holds. Where
  // branch_gradient has data it gets dropout's share of the sum's gradient. Adds to gain's and bias's gradients;
  // without a bias (null) it is that of RMSNorm.
  void (*add_dropout_norm_backward)(Context&, ConstMatrix sum, ConstMatrix normed_gradient,
                                    const float* statistics, const float* gain, const Dropout&,
                                    bool accumulate, Matrix sum_gradient, Matrix branch_gradient,
                                    float* gain_gradient, float* bias_gradient);

  // --- attention.inl.h --------------------------------------------------------------------------
  // log_sums (query rows × heads; null where there is no backward): log Σ exp of the scores. out is also written
  // rounded, if it comes with such a copy.
  void (*attention)(Context&, const AttentionShape&, ConstMatrix q, ConstMatrix k, ConstMatrix v, Matrix out,
                    float* log_sums);
  // The attention weights, before dropout. Row r is query r's, with head h in columns [h * longest_keys,
  // (h + 1) * longest_keys): the keys of its span in order, 0 for masked ones and beyond the span.
  void (*attention_weights)(Context&, const AttentionShape&, ConstMatrix q, ConstMatrix k, Matrix weights);
  // The spans' rows of the gradients of q, k and v are written, or added to; those of what distances add are added to.
  void (*attention_backward)(Context&, const AttentionShape&, ConstMatrix q, ConstMatrix k, ConstMatrix v,
                             ConstMatrix out, ConstMatrix out_gradient, const float* log_sums,
                             bool accumulate, Matrix q_gradient, Matrix k_gradient, Matrix v_gradient,
                             const DistanceGradients& distances);

  // --- alignment.inl.h --------------------------------------------------------------------------
  // Guided alignment: losses[r] is the cross-entropy between the links of row r, which share a probability of 1, and
  // its attention weights, 0 where it has no link. The weights become `factor` times the loss's gradient by the scores.
  void (*alignment_loss)(Context&, const QueryLinks&, float factor, Matrix weights, float* losses);
  // From the gradient of one head's scores, laid out as its attention_weights: adds to the gradients of q and k.
  void (*scores_backward)(Context&, const AttentionShape&, ConstMatrix scores_gradient, ConstMatrix q,
                          ConstMatrix k, Matrix q_gradient, Matrix k_gradient);

  // --- rotary.inl.h -----------------------------------------------------------------------------
  // Turns each pair of columns (i, i + width / 2) of each head by its position's angle; `back`: the inverse rotation.
  // Row p of `angles` has the cosines of position p, then the sines.
  void (*rotate)(Context&, const RowKey* rows, ConstMatrix angles, bool back, Matrix x);

  // --- head_norm.inl.h --------------------------------------------------------------------------
  // x / √(mean of squares + ε) for each head of each row, `width` columns, in place. factors: what each was multiplied
  // by, a row's heads side by side, or null. Backward, likewise in place: the gradient of the result becomes that of x.
  void (*normalise_heads)(Context&, int64_t width, float epsilon, Matrix x, float* factors);
  void (*normalise_heads_backward)(Context&, int64_t width, ConstMatrix normed, const float* factors,
                                   Matrix gradient);

  // --- ssru.inl.h -------------------------------------------------------------------------------
  // state = f · state before + (1 − f) · input, where f = σ(gate); out = relu(state). `seen`: states of earlier steps.
  void (*ssru)(Context&, const SsruShape&, ConstMatrix gate, ConstMatrix input, ConstMatrix seen,
               Matrix states, Matrix out);
  // Without earlier steps. The spans' rows of the gradients are written.
  void (*ssru_backward)(Context&, const SsruShape&, ConstMatrix gate, ConstMatrix input, ConstMatrix states,
                        ConstMatrix out_gradient, Matrix gate_gradient, Matrix input_gradient);

  // --- loss.inl.h -------------------------------------------------------------------------------
  // With `gradient`, a row of logits becomes its gradient (softmax − smoothed target), which is written rounded alone
  // if they come with such a copy.
  // losses: two floats a row, the cross-entropy with the smoothed target and −log p(target).
  void (*cross_entropy)(Context&, Matrix logits, const int32_t* targets, Smoothing, bool gradient,
                        float* losses);
  // A row of logits becomes one of log-probabilities: x − log Σ e^x, with the bits of −log p(target) above.
  void (*log_softmax)(Context&, Matrix logits);
  // mixed = log((1 − share) · e^mixed + share · e^other), element by element; 0 < share < 1. A NaN stays one.
  void (*mix_log_probabilities)(Context&, ConstMatrix other, float share, Matrix mixed);
  // Mixes what followed the known states into rows of log-probabilities, by a share that falls with the distance of the
  // nearest one; and, from ½ on, with the probability p of the row's likeliest word: as min(1, 2 (1 − p)). weights:
  // scratch, for each row as wide as the longest span.
  void (*mix_nearest)(Context&, const NearestShape&, ConstMatrix states, ConstMatrix known, Matrix weights,
                      Matrix mixed);
  // The `count` largest elements of each row, in descending order; of equals the lower column comes first. −∞ and NaN
  // never count: where nothing else is left, column −1 has −∞.
  void (*top)(Context&, ConstMatrix rows, int64_t count, Element* largest);
  // The same, bit for bit, of what log_softmax would make of these logits, which stay as they are.
  void (*top_log_probabilities)(Context&, ConstMatrix logits, int64_t count, Element* largest);

  // --- flat.inl.h -------------------------------------------------------------------------------
  // One pass over flat buffers; gradients are multiplied by gradient_scale.
  void (*adam)(Context&, int64_t count, const AdamStep&, float gradient_scale, const float* gradients,
               float* weights, float* first_moments, float* second_moments);
  // to += amount · (from − to): a moving average
  void (*move_toward)(Context&, int64_t count, float amount, const float* from, float* to);
  double (*sum_of_squares)(Context&, int64_t count, const float* values);
  void (*add)(Context&, float factor, ConstMatrix from, Matrix to);  // to += factor · from
  // out = a · b, element by element
  void (*multiply_elements)(Context&, ConstMatrix a, ConstMatrix b, Matrix out);
  // Of one matrix or several, one below the other; their squares likewise.
  void (*polynomial)(Context&, const Polynomial&, ConstMatrix a, ConstMatrix squares, Matrix out);
  // to[rows[r]] = from[r]; and to[r] = from[rows[r]]
  void (*scatter_rows)(Context&, ConstMatrix from, const int32_t* rows, Matrix to);
  void (*gather_rows)(Context&, ConstMatrix from, const int32_t* rows, Matrix to);
  // to[r][i] = from[r][lists[r].columns[i]], and −∞ beyond the list's end
  void (*pick_columns)(Context&, ConstMatrix from, const ColumnList* lists, Matrix to);
};

// The tables of this build that this machine can run, the plainest first.
struct KernelTables {
  const Kernels* const* tables;
  int count;
};
KernelTables available_kernels();

// The table of this name (DRAGOMAN_ISA's value), or this machine's best if the name is null or empty.
// Throws an Error that lists the available ones.
const Kernels& kernels_for(const char* name);
// The one that the environment asks for by DRAGOMAN_ISA, or this machine's best.
const Kernels& chosen_kernels();

}  // namespace dragoman::internal
