// The backward of embeddings into the tables of words and of positions. Several rows may add to one row of a table:
// they are sorted by it, and added up in their order, window by window of the sorted rows. Only runs that cross the end
// of a window leave partial sums, which are joined afterwards.
#pragma once

#include "kernels/cuda/sorting.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t window_rows = 32;

struct EmbedBackward {
  SortedRows sorted;
  const RowKey* rows;
  ConstMatrix gradient;
  float scale;
  bool zero_start;
  Matrix table_gradient;
  float*
      partial;  // for each window the sum of the run that comes from before it, then that of the one that goes on
};

struct Window {
  int64_t index, begin, end, column;
};
GPU_FUNCTION Window window_of_block(const EmbedBackward& o) {
  const int64_t runs = ceil_div(o.gradient.columns, column_threads), index = block_index() / runs;
  const int64_t begin = index * window_rows, end = begin + window_rows, rows = o.gradient.rows;
  return {index, begin, end < rows ? end : rows, block_index() % runs * column_threads + thread_index()};
}

GPU_FUNCTION float* partial_of(const EmbedBackward& o, int64_t window, int which, int64_t column) {
  return o.partial + (2 * window + which) * o.gradient.columns + column;
}
GPU_FUNCTION bool begins_at(const EmbedBackward& o, int64_t place) {
  return place == 0 || o.sorted.keys[place - 1] != o.sorted.keys[place];
}
GPU_FUNCTION bool goes_on_after(const EmbedBackward& o, int64_t end) {
  return end < o.gradient.rows && o.sorted.keys[end - 1] == o.sorted.keys[end];
}

GPU_FUNCTION float gradient_at(const EmbedBackward& o, const DropoutMask& mask, int64_t place,
                               int64_t column) {
  const int64_t row = o.sorted.rows[place];
  if (o.zero_start && o.rows[row].position == 0) return 0;
  return o.gradient.data[row * o.gradient.row_stride + column] * dropout_multiplier_at(mask, row, 0, column);
}

GPU_KERNEL embed_backward_kernel(EmbedBackward o, DropoutMask mask) {
  const Window window = window_of_block(o);
  if (window.column >= o.gradient.columns) return;
  int64_t first = window.begin;
  float sum = 0;
  for (int64_t place = window.begin; place < window.end; ++place) {
    sum += gradient_at(o, mask, place, window.column);
    const int32_t key = o.sorted.keys[place];
    if (place + 1 < window.end && o.sorted.keys[place + 1] == key) continue;
    const bool begins = begins_at(o, first);
    if (begins && !goes_on_after(o, place + 1)) {
      o.table_gradient.data[key * o.table_gradient.stride + window.column] += o.scale * sum;
    } else {
      *partial_of(o, window.index, begins ? 1 : 0, window.column) = sum;
    }
    first = place + 1;
    sum = 0;
  }
}

// Of the run that begins in this window and goes on after it.
GPU_KERNEL join_windows_kernel(EmbedBackward o) {
  const Window window = window_of_block(o);
  if (window.column >= o.gradient.columns || !goes_on_after(o, window.end)) return;
  const int32_t key = o.sorted.keys[window.end - 1];
  if (!begins_at(o, window.begin) && o.sorted.keys[window.begin] == key) return;
  float sum = *partial_of(o, window.index, 1, window.column);
  for (int64_t begin = window.end, w = window.index + 1;; begin += window_rows, ++w) {
    sum += *partial_of(o, w, 0, window.column);
    const int64_t end = begin + window_rows;
    if (end >= o.gradient.rows || o.sorted.keys[end] != key) break;
  }
  o.table_gradient.data[key * o.table_gradient.stride + window.column] += o.scale * sum;
}

inline void add_to_table(Context& context, const int32_t* ids, EmbedBackward operands,
                         const DropoutMask& mask, float* memory) {
  const int64_t rows = operands.gradient.rows, columns = operands.gradient.columns;
  operands.sorted = sort_rows(context, ids, operands.rows, rows, operands.table_gradient.rows, memory);
  operands.partial = memory + sorting_floats(rows);
  const int64_t blocks = ceil_div(rows, window_rows) * ceil_div(columns, column_threads);
  launch(context, {"embed_backward", blocks, column_threads}, embed_backward_kernel, operands, mask);
  launch(context, {"join_windows", blocks, column_threads}, join_windows_kernel, operands);
}

void embed_backward(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix gradient,
                    float scale, bool zero_start, const Dropout& dropout, Matrix table_gradient,
                    Matrix position_gradient) {
  const int64_t windows = ceil_div(gradient.rows, window_rows);
  float* memory = float_workspace(context, sorting_floats(gradient.rows) + 2 * windows * gradient.columns);
  const DropoutMask mask = dropout_mask(dropout);
  EmbedBackward operands = {.sorted = {},
                            .rows = rows,
                            .gradient = gradient,
                            .scale = scale,
                            .zero_start = zero_start,
                            .table_gradient = table_gradient,
                            .partial = nullptr};
  if (table_gradient.data != nullptr) add_to_table(context, ids, operands, mask, memory);
  operands.scale = 1;
  operands.zero_start = false;
  operands.table_gradient = position_gradient;
  if (position_gradient.data != nullptr) add_to_table(context, nullptr, operands, mask, memory);
}

}  // namespace
}  // namespace dragoman::internal
