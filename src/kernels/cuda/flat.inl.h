// Passes over flat buffers and rows: the optimiser, sums of squares, copies.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

constexpr int flat_threads = 256;
constexpr int64_t most_flat_blocks = 4096, items_of_thread = 4;

inline Grid flat_grid(const char* name, int64_t count) {
  const int64_t blocks = ceil_div(count, flat_threads * items_of_thread);
  return {name, blocks < most_flat_blocks ? blocks : most_flat_blocks, flat_threads};
}
GPU_FUNCTION int64_t first_item() { return block_index() * block_threads() + thread_index(); }
GPU_FUNCTION int64_t item_step() { return block_count() * block_threads(); }

GPU_KERNEL adam_kernel(int64_t count, AdamStep step, float scale, const float* gradients, float* weights,
                       float* first_moments, float* second_moments) {
  const float corrected_rate = step.learning_rate / step.correction1, inverse2 = 1 / step.correction2;
  const float decay = step.learning_rate * step.weight_decay;
  for (int64_t i = first_item(); i < count; i += item_step()) {
    const float g = gradients[i] * scale;
    const float m = fmaf(step.beta1, first_moments[i], (1 - step.beta1) * g);
    const float v = fmaf(step.beta2, second_moments[i], (1 - step.beta2) * (g * g));
    first_moments[i] = m;
    second_moments[i] = v;
    const float w = weights[i];
    weights[i] = w - corrected_rate * m / (sqrtf(v * inverse2) + step.epsilon) - decay * w;
  }
}

// w −= learning_rate · ((m / correction1) / (√(v / correction2) + ε) + weight_decay · w)
void adam(Context& context, int64_t count, const AdamStep& step, float gradient_scale, const float* gradients,
          float* weights, float* first_moments, float* second_moments) {
  launch(context, flat_grid("adam", count), adam_kernel, count, step, gradient_scale, gradients, weights,
         first_moments, second_moments);
}

GPU_KERNEL move_toward_kernel(int64_t count, float amount, const float* from, float* to) {
  for (int64_t i = first_item(); i < count; i += item_step()) to[i] = fmaf(amount, from[i] - to[i], to[i]);
}

void move_toward(Context& context, int64_t count, float amount, const float* from, float* to) {
  launch(context, flat_grid("move_toward", count), move_toward_kernel, count, amount, from, to);
}

// --- the sum of squares -----------------------------------------------------------------------------

constexpr int64_t squares_of_block = 32768;  // whose sum a block makes: their number fixes the order

GPU_KERNEL sum_of_squares_kernel(int64_t count, const float* values, double* partial) {
  const Shared<float> of_warps = shared<float>(0);
  const int64_t begin = block_index() * squares_of_block;
  const int64_t end = begin + squares_of_block < count ? begin + squares_of_block : count;
  float total = 0;
  for (int64_t i = begin + thread_index(); i < end; i += block_threads())
    total = fmaf(values[i], values[i], total);
  const float of_warp = warp_sum(total);
  if (lane() == 0) of_warps[warp_index()] = of_warp;
  sync_block();
  if (thread_index() > 0) return;
  double sum = 0;
  for (int w = 0; w < block_warps(); ++w) sum += static_cast<double>(static_cast<float>(of_warps[w]));
  partial[block_index()] = sum;
}

double sum_of_squares(Context& context, int64_t count, const float* values) {
  const int64_t blocks = ceil_div(count, squares_of_block);
  if (blocks == 0) return 0;
  double* partial =
      static_cast<double*>(gpu(context).workspace(static_cast<size_t>(blocks) * sizeof(double)));
  launch(context, {"sum_of_squares", blocks, flat_threads, flat_threads / warp_size * sizeof(float)},
         sum_of_squares_kernel, count, values, partial);
  double total = 0;
  constexpr int64_t at_once = 4096;
  double sums[at_once];
  for (int64_t b = 0; b < blocks; b += at_once) {
    const int64_t some = blocks - b < at_once ? blocks - b : at_once;
    gpu(context).download(sums, partial + b, static_cast<size_t>(some) * sizeof(double));
    for (int64_t i = 0; i < some; ++i) total += sums[i];
  }
  return total;
}

// --- rows -------------------------------------------------------------------------------------------

// to += factor · from, four columns at a time, and one at a time.
GPU_KERNEL add_fours_kernel(float factor, ConstMatrix from, Matrix to) {
  const PartOfRow part = part_of_warp(to.columns);
  if (part.row >= to.rows) return;
  const Matrix sum = from_column(to, part.first);
  const auto x = load_row<steps_of_part>(from_column(from, part.first), part.row);
  auto y = load_row<steps_of_part>(as_read(sum), part.row);
#pragma unroll
  for (int i = 0; i < 2 * steps_of_part; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) y.four[i].x[j] = fmaf(factor, x.four[i].x[j], y.four[i].x[j]);
  store_row(y, sum, part.row);
}
GPU_KERNEL add_kernel(float factor, ConstMatrix from, Matrix to) {
  const int64_t r = row_of_warp();
  if (r >= to.rows) return;
  for_each_column(to.columns, [=](int64_t c) {
    set_element(to, r, c, fmaf(factor, element(from, r, c), element(as_read(to), r, c)));
  });
}

void add(Context& context, float factor, ConstMatrix from, Matrix to) {
  if (in_fours(from) && in_fours(as_read(to))) {
    launch(context, part_grid("add", to.rows, to.columns), add_fours_kernel, factor, from, to);
  } else {
    launch(context, row_grid("add", to.rows), add_kernel, factor, from, to);
  }
}

GPU_KERNEL multiply_fours_kernel(ConstMatrix a, ConstMatrix b, Matrix out) {
  const PartOfRow part = part_of_warp(out.columns);
  if (part.row >= out.rows) return;
  auto x = load_row<steps_of_part>(from_column(a, part.first), part.row);
  const auto y = load_row<steps_of_part>(from_column(b, part.first), part.row);
#pragma unroll
  for (int i = 0; i < 2 * steps_of_part; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) x.four[i].x[j] *= y.four[i].x[j];
  store_row(x, from_column(out, part.first), part.row);
}
GPU_KERNEL multiply_elements_kernel(ConstMatrix a, ConstMatrix b, Matrix out) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  for_each_column(out.columns,
                  [=](int64_t c) { set_element(out, r, c, element(a, r, c) * element(b, r, c)); });
}

void multiply_elements(Context& context, ConstMatrix a, ConstMatrix b, Matrix out) {
  if (in_fours(a) && in_fours(b) && in_fours(as_read(out))) {
    launch(context, part_grid("multiply_elements", out.rows, out.columns), multiply_fours_kernel, a, b, out);
  } else {
    launch(context, row_grid("multiply_elements", out.rows), multiply_elements_kernel, a, b, out);
  }
}

// --- the polynomial of a symmetric matrix -----------------------------------------------------------

// Of a symmetric matrix the square's trace is the sum of all squares. Every warp adds it up, from the matrix's first
// row on: a number of each row.
GPU_FUNCTION Polynomial of_unit_norm(Polynomial p, const ConstMatrix& squared, int64_t first) {
  float squares = 0;
  for (int64_t i = lane(); i < squared.columns; i += warp_size) squares += element(squared, first + i, i);
  const float norm = sqrtf(warp_sum(squares) + 1e-28f),
              root = sqrtf(norm);  // of zeros everything stays finite
  p.constant /= root;
  p.linear = p.linear / norm / root;
  p.quadratic = p.quadratic / norm / norm / root;
  return p;
}

GPU_KERNEL polynomial_kernel(Polynomial given, ConstMatrix a, ConstMatrix squared, Matrix out) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  const int64_t row = r % out.columns;  // of one of the matrices
  const Polynomial p = given.of_unit_norm ? of_unit_norm(given, squared, r - row) : given;
  for_each_column(out.columns, [=](int64_t c) {
    const float sum = fmaf(p.linear, element(a, r, c), p.quadratic * element(squared, r, c));
    set_element(out, r, c, c == row ? sum + p.constant : sum);
  });
}

void polynomial(Context& context, const Polynomial& given, ConstMatrix a, ConstMatrix squares, Matrix out) {
  launch(context, row_grid("polynomial", out.rows), polynomial_kernel, given, a, squares, out);
}

// to[to_rows[r]] = from[from_rows[r]]; without a list, r itself.
struct RowCopies {
  ConstMatrix from;
  const int32_t *from_rows, *to_rows;
  int64_t rows;
  Matrix to;
};
GPU_FUNCTION int64_t listed_row(const int32_t* list, int64_t r) { return list != nullptr ? list[r] : r; }

GPU_KERNEL copy_fours_kernel(RowCopies o) {
  const PartOfRow part = part_of_warp(o.to.columns);
  if (part.row >= o.rows) return;
  store_row(load_row<steps_of_part>(from_column(o.from, part.first), listed_row(o.from_rows, part.row)),
            from_column(o.to, part.first), listed_row(o.to_rows, part.row));
}
GPU_KERNEL copy_rows_kernel(RowCopies o) {
  const int64_t r = row_of_warp();
  if (r >= o.rows) return;
  const int64_t from = listed_row(o.from_rows, r), to = listed_row(o.to_rows, r);
  for_each_column(o.to.columns, [=](int64_t c) { set_element(o.to, to, c, element(o.from, from, c)); });
}

inline void copy_rows(Context& context, const char* name, RowCopies copies) {
  if (copies.from.columns < copies.to.columns) copies.to.columns = copies.from.columns;
  if (in_fours(copies.from) && in_fours(as_read(copies.to))) {
    launch(context, part_grid(name, copies.rows, copies.to.columns), copy_fours_kernel, copies);
  } else {
    launch(context, row_grid(name, copies.rows), copy_rows_kernel, copies);
  }
}

void scatter_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  copy_rows(context, "scatter_rows", {from, nullptr, rows, from.rows, to});
}

void gather_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  copy_rows(context, "gather_rows", {from, rows, nullptr, to.rows, to});
}

GPU_KERNEL pick_columns_kernel(ConstMatrix from, const ColumnList* lists, Matrix to) {
  const int64_t r = row_of_warp();
  if (r >= to.rows) return;
  const ColumnList list = lists[r];
  for_each_column(to.columns, [=](int64_t i) {
    set_element(to, r, i, i < list.count ? element(from, r, list.columns[i]) : -INFINITY);
  });
}

void pick_columns(Context& context, ConstMatrix from, const ColumnList* lists, Matrix to) {
  launch(context, row_grid("pick_columns", to.rows), pick_columns_kernel, from, lists, to);
}

}  // namespace
}  // namespace dragoman::internal
