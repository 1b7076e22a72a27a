// Passes over flat buffers and rows: the optimiser, sums of squares, copies.
#pragma once

#include "kernels/cuda/rows.inl.h"

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
  constexpr int64_t at_once = 1024;
  double sums[at_once];
  for (int64_t b = 0; b < blocks; b += at_once) {
    const int64_t some = blocks - b < at_once ? blocks - b : at_once;
    gpu(context).download(sums, partial + b, static_cast<size_t>(some) * sizeof(double));
    for (int64_t i = 0; i < some; ++i) total += sums[i];
  }
  return total;
}

// --- rows -------------------------------------------------------------------------------------------

GPU_KERNEL add_kernel(ConstMatrix from, Matrix to) {
  const int64_t r = row_of_warp();
  if (r >= to.rows) return;
  const float* x = from.data + r * from.row_stride;
  float* y = to.data + r * to.stride;
  for_each_column(to.columns, [=](int64_t c) { y[c] += x[c]; });
}

void add(Context& context, ConstMatrix from, Matrix to) {
  launch(context, row_grid("add", to.rows), add_kernel, from, to);
}

GPU_KERNEL multiply_elements_kernel(ConstMatrix a, ConstMatrix b, Matrix out) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  const float *x = a.data + r * a.row_stride, *y = b.data + r * b.row_stride;
  float* to = out.data + r * out.stride;
  for_each_column(out.columns, [=](int64_t c) { to[c] = x[c] * y[c]; });
}

void multiply_elements(Context& context, ConstMatrix a, ConstMatrix b, Matrix out) {
  launch(context, row_grid("multiply_elements", out.rows), multiply_elements_kernel, a, b, out);
}

// to[to_rows[r]] = from[from_rows[r]]; without a list, r itself.
GPU_KERNEL copy_rows_kernel(ConstMatrix from, const int32_t* from_rows, const int32_t* to_rows, int64_t rows,
                            Matrix to) {
  const int64_t r = row_of_warp();
  if (r >= rows) return;
  const float* x = from.data + (from_rows != nullptr ? from_rows[r] : r) * from.row_stride;
  float* y = to.data + (to_rows != nullptr ? to_rows[r] : r) * to.stride;
  for_each_column(to.columns < from.columns ? to.columns : from.columns, [=](int64_t c) { y[c] = x[c]; });
}

void scatter_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  const int32_t* in_order = nullptr;
  launch(context, row_grid("scatter_rows", from.rows), copy_rows_kernel, from, in_order, rows, from.rows, to);
}

void gather_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  const int32_t* in_order = nullptr;
  launch(context, row_grid("gather_rows", to.rows), copy_rows_kernel, from, rows, in_order, to.rows, to);
}

}  // namespace
}  // namespace dragoman::internal
