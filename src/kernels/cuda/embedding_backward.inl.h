// The backward of embeddings into the tables of words and of positions. Several rows may add to one row of a table:
// they are sorted by it, and added up in their order, window by window of the sorted rows, four columns a thread. Only
// runs that cross the end of a window leave partial sums, which are joined afterwards: in their order, too.
#pragma once

#include "kernels/cuda/sorting.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t window_rows = 16;
constexpr int rows_on_their_way = 4;  // loads of a thread that it waits for at once
constexpr int windows_on_their_way = 8;

struct EmbedBackward {
  SortedRows sorted;
  const RowKey* rows;
  ConstMatrix gradient;
  float scale;
  bool zero_start;
  Matrix table_gradient;
  // For each window the sum of the run that comes from before it, then that of the one that goes on.
  float* partial;
};

inline int embedding_threads(int64_t columns) {
  constexpr int64_t most = 128;
  const int64_t wanted = ceil_div(columns, 4 * warp_size) * warp_size;
  return static_cast<int>(wanted < most ? wanted : most);
}
constexpr int64_t partial_stride(int64_t columns) { return ceil_div(columns, 4) * 4; }

struct Window {
  int64_t index, begin, end, column;
};
GPU_FUNCTION Window window_of_block(const EmbedBackward& o) {
  const int64_t columns_of_block = 4 * block_threads();
  const int64_t runs = ceil_div(o.gradient.columns, columns_of_block), index = block_index() / runs;
  const int64_t begin = index * window_rows, end = begin + window_rows, rows = o.gradient.rows;
  return {index, begin, end < rows ? end : rows,
          block_index() % runs * columns_of_block + 4 * thread_index()};
}

GPU_FUNCTION float* partial_of(const EmbedBackward& o, int64_t window, int which, int64_t column) {
  return o.partial + (2 * window + which) * partial_stride(o.gradient.columns) + column;
}
GPU_FUNCTION bool begins_at(const EmbedBackward& o, int64_t place) {
  return place == 0 || o.sorted.keys[place - 1] != o.sorted.keys[place];
}
GPU_FUNCTION bool goes_on_after(const EmbedBackward& o, int64_t end) {
  return end < o.gradient.rows && o.sorted.keys[end - 1] == o.sorted.keys[end];
}

// Four columns, or as many of them as a row has.
GPU_FUNCTION Four four_columns(const float* row, int64_t column, int64_t columns) {
  if (column + 4 <= columns && is_multiple_of(row, sizeof(Four))) return load_four(row + column);
  Four read;
#pragma unroll
  for (int i = 0; i < 4; ++i) read.x[i] = column + i < columns ? row[column + i] : 0;
  return read;
}
GPU_FUNCTION void store_columns(float* row, int64_t column, int64_t columns, const Four& x) {
  if (column + 4 <= columns && is_multiple_of(row, sizeof(Four))) {
    store_four(x, row + column);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (column + i < columns) row[column + i] = x.x[i];
}
GPU_FUNCTION Four sum_of_fours(const Four& a, float scale, const Four& b) {  // a + scale · b
  Four sum;
#pragma unroll
  for (int i = 0; i < 4; ++i) sum.x[i] = fmaf(scale, b.x[i], a.x[i]);
  return sum;
}

GPU_FUNCTION float* table_row(const EmbedBackward& o, int32_t key) {
  return o.table_gradient.data + key * o.table_gradient.stride;
}

// Some sorted rows of a window: what each adds, which is the last of a run, and what the table has for that one.
struct RowsOfWindow {
  Four gradients[rows_on_their_way], before[rows_on_their_way];
  int32_t keys[rows_on_their_way];
  bool last[rows_on_their_way];
};

GPU_FUNCTION RowsOfWindow rows_of_window(const EmbedBackward& o, const DropoutMask& mask,
                                         const Window& window, int64_t begin) {
  const int64_t columns = o.gradient.columns;
  RowsOfWindow some;
  int32_t rows[rows_on_their_way];
#pragma unroll
  for (int i = 0; i < rows_on_their_way; ++i) {
    const int64_t place = begin + i < window.end ? begin + i : window.end - 1;
    rows[i] = o.sorted.rows[place];
    some.keys[i] = o.sorted.keys[place];
    some.last[i] = place + 1 == window.end || o.sorted.keys[place + 1] != some.keys[i];
    some.gradients[i] =
        four_columns(o.gradient.data + rows[i] * o.gradient.row_stride, window.column, columns);
    some.before[i] = {};
    if (some.last[i]) some.before[i] = four_columns(table_row(o, some.keys[i]), window.column, columns);
  }
#pragma unroll
  for (int i = 0; i < rows_on_their_way; ++i) {
    float multipliers[4];
    dropout_multipliers_of_four(mask, rows[i], 0, window.column, multipliers);
    const bool zero = o.zero_start && o.rows[rows[i]].position == 0;
#pragma unroll
    for (int n = 0; n < 4; ++n) some.gradients[i].x[n] = zero ? 0 : some.gradients[i].x[n] * multipliers[n];
  }
  return some;
}

GPU_KERNEL embed_backward_kernel(EmbedBackward o, DropoutMask mask) {
  const Window window = window_of_block(o);
  if (window.column >= o.gradient.columns) return;
  const bool goes_on = goes_on_after(o, window.end);
  bool begins = begins_at(o, window.begin);
  Four sum = {};
  for (int64_t begin = window.begin; begin < window.end; begin += rows_on_their_way) {
    const RowsOfWindow some = rows_of_window(o, mask, window, begin);
#pragma unroll
    for (int i = 0; i < rows_on_their_way; ++i) {
      if (begin + i >= window.end) continue;
      sum = sum_of_fours(sum, 1, some.gradients[i]);
      if (!some.last[i]) continue;
      if (begins && (begin + i + 1 < window.end || !goes_on)) {
        store_columns(table_row(o, some.keys[i]), window.column, o.gradient.columns,
                      sum_of_fours(some.before[i], o.scale, sum));
      } else {
        store_four(sum, partial_of(o, window.index, begins ? 1 : 0, window.column));
      }
      begins = true;
      sum = {};
    }
  }
}

// Of the run that begins in this window and goes on after it.
GPU_KERNEL join_windows_kernel(EmbedBackward o) {
  const Window window = window_of_block(o);
  if (window.column >= o.gradient.columns || !goes_on_after(o, window.end)) return;
  const int32_t key = o.sorted.keys[window.end - 1];
  if (!begins_at(o, window.begin) && o.sorted.keys[window.begin] == key) return;
  Four sum = load_four(partial_of(o, window.index, 1, window.column));
  bool goes_on = true;
  for (int64_t first = window.index + 1; goes_on; first += windows_on_their_way) {
    Four partial[windows_on_their_way];
    bool has[windows_on_their_way];
#pragma unroll
    for (int i = 0; i < windows_on_their_way; ++i) {
      const int64_t begin = (first + i) * window_rows;
      has[i] = begin < o.gradient.rows && o.sorted.keys[begin] == key;
      partial[i] = {};
      if (has[i]) partial[i] = load_four(partial_of(o, first + i, 0, window.column));
    }
#pragma unroll
    for (int i = 0; i < windows_on_their_way; ++i)
      if (has[i]) sum = sum_of_fours(sum, 1, partial[i]);
    goes_on = has[windows_on_their_way - 1];
  }
  float* row = table_row(o, key);
  const Four before = four_columns(row, window.column, o.gradient.columns);
  store_columns(row, window.column, o.gradient.columns, sum_of_fours(before, o.scale, sum));
}

inline void add_to_table(Context& context, const int32_t* ids, EmbedBackward operands,
                         const DropoutMask& mask, float* memory) {
  const int64_t rows = operands.gradient.rows, columns = operands.gradient.columns;
  operands.sorted = sort_rows(context, ids, operands.rows, rows, memory);
  operands.partial = memory + sorting_floats(rows);
  const int threads = embedding_threads(columns);
  const int64_t blocks = ceil_div(rows, window_rows) * ceil_div(columns, 4 * int64_t{threads});
  launch(context, {"embed_backward", blocks, threads}, embed_backward_kernel, operands, mask);
  launch(context, {"join_windows", blocks, threads}, join_windows_kernel, operands);
}

void embed_backward(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix gradient,
                    float scale, bool zero_start, const Dropout& dropout, Matrix table_gradient,
                    Matrix position_gradient) {
  const int64_t windows = ceil_div(gradient.rows, window_rows);
  float* memory = float_workspace(
      context, sorting_floats(gradient.rows) + 2 * windows * partial_stride(gradient.columns));
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
