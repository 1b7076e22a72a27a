// The gradients of what distances add to attention (attention_distances.inl.h).
#pragma once

#include "kernels/cpu/attention_distances.inl.h"

namespace dragoman::internal {
namespace {

inline bool has_gradients(const DistanceGradients& gradients) {
  return gradients.bias.data != nullptr || gradients.keys.data != nullptr;
}

// A task's sums: of its head's bias, and of the vectors.
struct DistanceSums {
  static int64_t floats(const DistanceGradients& g) {
    return (g.bias.data != nullptr ? g.bias.rows : 0) +
           (g.keys.data != nullptr ? 2 * g.keys.rows * g.keys.columns : 0);
  }

  // memory: floats() of them, which become zeros.
  DistanceSums(const DistanceGradients& g, float* memory) {
    fill(memory, floats(g), 0);
    if (g.bias.data != nullptr) {
      bias = memory;
      memory += g.bias.rows;
    }
    if (g.keys.data == nullptr) return;
    keys = {memory, g.keys.rows, g.keys.columns, g.keys.columns};
    values = {memory + g.keys.rows * g.keys.columns, g.keys.rows, g.keys.columns, g.keys.columns};
  }

  float* bias = nullptr;
  Matrix keys = {}, values = {};
};

// The gradients += the sums of all tasks, in their order. A task is of head (task % heads).
inline void add_sums(Context& context, const DistanceGradients& g, const float* sums, int64_t tasks,
                     int64_t heads) {
  const int64_t floats = DistanceSums::floats(g);
  if (g.bias.data != nullptr) {
    for_each_task(context, heads, [&](int64_t head, int) {
      for (int64_t task = head; task < tasks; task += heads)
        for (int64_t r = 0; r < g.bias.rows; ++r)
          g.bias.data[r * g.bias.stride + head] += sums[task * floats + r];
    });
  }
  if (g.keys.data == nullptr) return;
  const float* first = sums + (g.bias.data != nullptr ? g.bias.rows : 0);
  for_each_task(context, 2 * g.keys.rows, [&](int64_t row, int) {
    const Matrix& gradient = row < g.keys.rows ? g.keys : g.values;
    float* to = gradient.data + row % g.keys.rows * gradient.stride;
    for (int64_t task = 0; task < tasks; ++task)
      for (int64_t c = 0; c < gradient.columns; ++c)
        to[c] += first[task * floats + row * gradient.columns + c];
  });
}

class DistancesBackward {
 public:
  static int64_t floats(const AttentionShape& shape) {
    const int64_t vectors = shape.distance_keys.rows, width = shape.width;
    if (!has_vectors(shape)) return 0;
    return packed_size(width, vectors) + packed_size(vectors, width) + query_tile * padded(vectors) + 3 * 16;
  }

  // sums: null where distances have no gradients.
  DistancesBackward(const AttentionShape& shape, DistanceSums* sums, Pieces& memory)
      : shape_(shape), sums_(sums), vectors_(shape.distance_keys.rows) {
    if (!has_vectors(shape)) return;
    value_columns_ = memory.take(packed_size(shape.width, vectors_));
    key_rows_ = memory.take(packed_size(vectors_, shape.width));
    tile_ = memory.take(query_tile * padded(vectors_));
    pack_single_thread(shape.distance_values.transposed(), value_columns_);
    pack_single_thread(shape.distance_keys, key_rows_);
  }

  // dp += the products of the outputs' gradients with the vectors of values.
  void add_value_products(const Head& head, int64_t first, bool causal, ConstMatrix dout, Matrix dp,
                          float* block) {
    if (!has_vectors(shape_)) return;
    const Matrix products = tile(dout.rows);
    multiply_single_thread(dout, {value_columns_, shape_.width, vectors_}, products, false, block);
    for (int64_t i = 0; i < dout.rows; ++i)
      add_by_distance(products.data + i * products.stride, 1, vectors_, head.position(first + i),
                      head.visible(first + i, causal), dp.data + i * dp.stride);
  }

  // From a query's gradients of scores that distances were added to: the bias's, and those of the products.
  void add_bias(int64_t position, int64_t visible, float* dp) {
    if (sums_ != nullptr && sums_->bias != nullptr)
      sum_by_distance(dp, shape_.distance_bias.rows, position, visible, sums_->bias);
    scale_row(dp, visible, shape_.scale);
  }

  // p: the probabilities that met values; dout: packed by rows.
  void add_value_vectors(const Head& head, int64_t first, bool causal, const Matrix& p, PackedMatrix dout,
                         float* block) {
    if (has_vectors(shape_))
      add_vectors(head, first, causal, p, dout, sums_ != nullptr ? sums_->values : Matrix{}, block);
  }

  // dp: the gradients of products; q: packed by rows.
  void add_key_vectors(const Head& head, int64_t first, bool causal, const Matrix& dp, PackedMatrix q,
                       Matrix q_gradient, float* block) {
    if (!has_vectors(shape_)) return;
    add_vectors(head, first, causal, dp, q, sums_ != nullptr ? sums_->keys : Matrix{}, block);
    multiply_single_thread(tile(dp.rows), {key_rows_, vectors_, shape_.width}, q_gradient, true, block);
  }

 private:
  Matrix tile(int64_t rows) const { return {tile_, rows, vectors_, padded(vectors_)}; }

  // gradient += (values summed by distance)ᵀ · rows; the sums stay in the tile.
  void add_vectors(const Head& head, int64_t first, bool causal, const Matrix& values, PackedMatrix rows,
                   Matrix gradient, float* block) {
    const Matrix sums = tile(values.rows);
    sum_rows_by_distance(head, first, causal, values, sums);
    if (gradient.data != nullptr)
      multiply_single_thread(ConstMatrix(sums).transposed(), rows, gradient, true, block);
  }

  const AttentionShape& shape_;
  DistanceSums* sums_;
  int64_t vectors_;
  float *value_columns_ = nullptr, *key_rows_ = nullptr, *tile_ = nullptr;
};

}  // namespace
}  // namespace dragoman::internal
