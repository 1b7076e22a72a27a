// What attention knows of distances: a bias for each head, and Shaw's vectors (Shaw et al., 2018), which are added to
// keys and values. All are tables with a row for each distance that is told apart, from -reach to reach; keys farther
// away have the first or the last row.
#pragma once

#include "kernels/cpu/attention_heads.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// --- by distance ------------------------------------------------------------------------------------

// The keys of a query at this position, by their rows in a table: [0, near) have the first, [far, visible) the last,
// and between them each has the row after that of the one before.
struct Runs {
  Runs(int64_t rows, int64_t position, int64_t visible)
      : reach((rows - 1) / 2),
        near(smaller(larger(position - reach, 0), visible)),
        far(larger(near, smaller(position + reach, visible))),
        first_row(near - position + reach) {}

  int64_t reach, near, far;
  int64_t first_row;  // of key `near`
};

// scores[j] += table[row of key j], where the table has one column.
inline void add_by_distance(const float* table, int64_t stride, int64_t rows, int64_t position,
                            int64_t visible, float* scores) {
  const Runs runs(rows, position, visible);
  for (int64_t j = 0; j < runs.near; ++j) scores[j] += table[0];
  const float* row = table + runs.first_row * stride;
  if (stride == 1) {
    for (int64_t j = runs.near; j < runs.far; ++j) scores[j] += row[j - runs.near];
  } else {
    for (int64_t j = runs.near; j < runs.far; ++j) scores[j] += row[(j - runs.near) * stride];
  }
  for (int64_t j = runs.far; j < visible; ++j) scores[j] += table[(rows - 1) * stride];
}

// sums[row of key j] += values[j]
inline void sum_by_distance(const float* values, int64_t rows, int64_t position, int64_t visible,
                            float* sums) {
  const Runs runs(rows, position, visible);
  for (int64_t j = 0; j < runs.near; ++j) sums[0] += values[j];
  float* row = sums + runs.first_row;
  for (int64_t j = runs.near; j < runs.far; ++j) row[j - runs.near] += values[j];
  for (int64_t j = runs.far; j < visible; ++j) sums[rows - 1] += values[j];
}

inline void scale_row(float* row, int64_t count, float scale) {
  for (int64_t j = 0; j < count; j += lanes)
    store_some(row + j, load_some(row + j, count - j) * all(scale), count - j);
}

// sums(i, row of key j) = Σ values(i, j), of a tile: the span's queries from `first` on.
inline void sum_rows_by_distance(const Head& head, int64_t first, bool causal, const Matrix& values,
                                 Matrix sums) {
  for (int64_t i = 0; i < values.rows; ++i) {
    float* row = sums.data + i * sums.stride;
    fill(row, sums.columns, 0);
    sum_by_distance(values.data + i * values.stride, sums.columns, head.position(first + i),
                    head.visible(first + i, causal), row);
  }
}

// --- of one head ------------------------------------------------------------------------------------

inline bool has_vectors(const AttentionShape& shape) { return shape.distance_keys.data != nullptr; }
inline bool has_distances(const AttentionShape& shape) {
  return shape.distance_bias.data != nullptr || has_vectors(shape);
}

class Distances {
 public:
  // Floats that it takes from a worker's memory.
  static int64_t floats(const AttentionShape& shape) {
    const int64_t vectors = shape.distance_keys.rows, width = shape.width;
    const int64_t of_vectors =
        has_vectors(shape)
            ? packed_size(width, vectors) + packed_size(vectors, width) + query_tile * padded(vectors)
            : 0;
    return padded(shape.distance_bias.rows) + of_vectors + 4 * 16;
  }

  Distances(const AttentionShape& shape, Pieces& memory)
      : shape_(shape), vectors_(shape.distance_keys.rows), own_bias_(memory.take(shape.distance_bias.rows)) {
    if (!has_vectors(shape)) return;
    key_columns_ = memory.take(packed_size(shape.width, vectors_));
    value_rows_ = memory.take(packed_size(vectors_, shape.width));
    tile_ = memory.take(query_tile * padded(vectors_));
    pack_single_thread(shape.distance_keys.transposed(), key_columns_);
    pack_single_thread(shape.distance_values, value_rows_);
  }

  // For many queries of a head its bias stands side by side; for one it is read where it is.
  void begin_head(int64_t head, bool many) {
    const ConstMatrix bias = shape_.distance_bias;
    if (bias.data == nullptr) return;
    bias_ = bias.data + head;
    stride_ = bias.row_stride;
    if (!many) return;
    for (int64_t r = 0; r < bias.rows; ++r) own_bias_[r] = bias_[r * stride_];
    bias_ = own_bias_;
    stride_ = 1;
  }

  // Before the scores of a tile of queries: their products with the vectors of keys.
  void begin_tile(ConstMatrix q, float* block) {
    if (has_vectors(shape_))
      multiply_single_thread(q, {key_columns_, shape_.width, vectors_}, tile(q.rows), false, block);
  }

  // A query's scores, once scaled, and with what distances add to them. i: in its tile.
  void add_to_scores(int64_t i, int64_t position, int64_t visible, float* scores) const {
    scale_row(scores, visible, shape_.scale);
    const ConstMatrix bias = shape_.distance_bias;
    if (bias.data != nullptr) add_by_distance(bias_, stride_, bias.rows, position, visible, scores);
    if (!has_vectors(shape_)) return;
    float* products = tile_ + i * padded(vectors_);
    scale_row(products, vectors_, shape_.scale);
    add_by_distance(products, 1, vectors_, position, visible, scores);
  }

  // out += the vectors of values, weighed by the probabilities of a tile: the span's queries from `first` on.
  void add_values(const Head& head, int64_t first, bool causal, const Matrix& p, Matrix out, float* block) {
    if (!has_vectors(shape_)) return;
    const Matrix sums = tile(p.rows);
    sum_rows_by_distance(head, first, causal, p, sums);
    multiply_single_thread(sums, {value_rows_, vectors_, shape_.width}, out, true, block);
  }

 private:
  Matrix tile(int64_t rows) const { return {tile_, rows, vectors_, padded(vectors_)}; }

  const AttentionShape& shape_;
  int64_t vectors_;
  float* own_bias_;
  const float* bias_ = nullptr;
  int64_t stride_ = 1;
  float *key_columns_ = nullptr, *value_rows_ = nullptr, *tile_ = nullptr;
};

}  // namespace
}  // namespace dragoman::internal
