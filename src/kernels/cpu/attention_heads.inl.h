// One head of one sentence, as the kernels of attention take it, and the memory that they take.
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int64_t query_tile = single_thread_rows;

// Rows [first, first + rows), columns of this head.
inline ConstMatrix part_of(ConstMatrix m, int64_t first, int64_t rows, int64_t head, int64_t width) {
  return {m.data + first * m.row_stride + head * width, rows, width, m.row_stride, 1};
}
inline Matrix part_of(Matrix m, int64_t first, int64_t rows, int64_t head, int64_t width) {
  return {m.data + first * m.stride + head * width, rows, width, m.stride};
}

struct Head {
  int64_t index;
  Span queries, keys;
  int64_t past;  // keys before the first query's own: from earlier steps of decoding

  // Where query i stands among the keys.
  int64_t position(int64_t i) const { return past + i; }

  // The number of keys that query i attends to.
  int64_t visible(int64_t i, bool causal) const { return causal ? position(i) + 1 : keys.length; }
};

inline Head head_of_task(const AttentionShape& shape, int64_t task) {
  const Span queries = shape.queries[task / shape.heads], keys = shape.keys[task / shape.heads];
  return {task % shape.heads, queries, keys, keys.length - queries.length};
}

// A worker's workspace, split into pieces that are aligned to cache lines.
class Pieces {
 public:
  explicit Pieces(void* memory) : next_(static_cast<float*>(memory)) {}
  float* take(int64_t floats) {
    float* piece = next_;
    next_ += ceil_div(floats, 16) * 16;
    return piece;
  }

 private:
  float* next_;
};

inline int64_t padded(int64_t n) { return ceil_div(n, 16) * 16; }

}  // namespace
}  // namespace dragoman::internal
