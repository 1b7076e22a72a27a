// Passes over flat buffers and rows: the optimiser, sums of squares, copies.
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int64_t flat_block = 32768;  // floats a task; their number is the order of partial sums

// w −= learning_rate · ((m / correction1) / (√(v / correction2) + ε) + weight_decay · w)
void adam(Context& context, int64_t count, const AdamStep& step, float gradient_scale, const float* gradients,
          float* weights, float* first_moments, float* second_moments) {
  const Vec corrected_rate = all(step.learning_rate / step.correction1), inverse2 = all(1 / step.correction2);
  const Vec beta1 = all(step.beta1), beta2 = all(step.beta2), epsilon = all(step.epsilon);
  const Vec rest1 = all(1 - step.beta1), rest2 = all(1 - step.beta2), scale = all(gradient_scale);
  const Vec decay = all(step.learning_rate * step.weight_decay);
  for_each_task(context, ceil_div(count, flat_block), [&](int64_t task, int) {
    const int64_t end = smaller(count, (task + 1) * flat_block);
    for (int64_t i = task * flat_block; i < end; i += lanes) {
      const int64_t left = end - i;
      const Vec g = load_some(gradients + i, left) * scale;
      const Vec m = multiply_add(beta1, load_some(first_moments + i, left), rest1 * g);
      const Vec v = multiply_add(beta2, load_some(second_moments + i, left), rest2 * (g * g));
      store_some(first_moments + i, m, left);
      store_some(second_moments + i, v, left);
      const Vec update = corrected_rate * m / (square_root(v * inverse2) + epsilon);
      const Vec w = load_some(weights + i, left);
      store_some(weights + i, w - update - decay * w, left);
    }
  });
}

void move_toward(Context& context, int64_t count, float amount, const float* from, float* to) {
  for_each_task(context, ceil_div(count, flat_block), [&](int64_t task, int) {
    const int64_t end = smaller(count, (task + 1) * flat_block);
    for (int64_t i = task * flat_block; i < end; i += lanes) {
      const Vec t = load_some(to + i, end - i);
      store_some(to + i, multiply_add(all(amount), load_some(from + i, end - i) - t, t), end - i);
    }
  });
}

double sum_of_squares(Context& context, int64_t count, const float* values) {
  const int64_t blocks = ceil_div(count, flat_block);
  double* partial = static_cast<double*>(cpu(context).shared(static_cast<size_t>(blocks) * sizeof(double)));
  for_each_task(context, blocks, [&](int64_t task, int) {
    const int64_t end = smaller(count, (task + 1) * flat_block);
    Vec total = {};
    for (int64_t i = task * flat_block; i < end; i += lanes) {
      const Vec v = load_some(values + i, end - i);
      total = multiply_add(v, v, total);
    }
    partial[task] = static_cast<double>(sum(total));
  });
  double total = 0;
  for (int64_t b = 0; b < blocks; ++b) total += partial[b];
  return total;
}

void add(Context& context, float factor, ConstMatrix from, Matrix to) {
  for_each_row(context, to.rows, to.columns, [&](int64_t r) {
    const float* x = from.data + r * from.row_stride;
    float* y = to.data + r * to.stride;
    for (int64_t c = 0; c < to.columns; c += lanes) {
      const int64_t left = to.columns - c;
      store_some(y + c, multiply_add(all(factor), load_some(x + c, left), load_some(y + c, left)), left);
    }
  });
}

void multiply_elements(Context& context, ConstMatrix a, ConstMatrix b, Matrix out) {
  for_each_row(context, out.rows, out.columns, [&](int64_t r) {
    const float* x = a.data + r * a.row_stride;
    const float* y = b.data + r * b.row_stride;
    for (int64_t c = 0; c < out.columns; c += lanes) {
      const int64_t left = out.columns - c;
      store_some(out.data + r * out.stride + c, load_some(x + c, left) * load_some(y + c, left), left);
    }
  });
}

// Of a symmetric matrix the square's trace is the sum of all squares.
inline Polynomial of_unit_norm(Polynomial p, const float* square, int64_t size, int64_t stride) {
  double squares = 1e-28;  // of zeros everything stays finite
  for (int64_t i = 0; i < size; ++i) squares += static_cast<double>(square[i * (stride + 1)]);
  const double norm = __builtin_sqrt(squares), root = __builtin_sqrt(norm);
  p.constant = static_cast<float>(static_cast<double>(p.constant) / root);
  p.linear = static_cast<float>(static_cast<double>(p.linear) / (norm * root));
  p.quadratic = static_cast<float>(static_cast<double>(p.quadratic) / (norm * norm * root));
  return p;
}

void polynomial(Context& context, const Polynomial& given, ConstMatrix a, ConstMatrix squares, Matrix out) {
  const int64_t size = out.columns;
  for_each_row_block(context, out.rows, size, [&](int64_t begin, int64_t end) {
    Polynomial p = given;
    for (int64_t r = begin; r < end; ++r) {
      const int64_t row = r % size;  // of one of the matrices
      const float *x = a.data + r * a.row_stride, *y = squares.data + r * squares.row_stride;
      if (given.of_unit_norm && (row == 0 || r == begin))
        p = of_unit_norm(given, y - row * squares.row_stride, size, squares.row_stride);
      float* const to = out.data + r * out.stride;
      for (int64_t c = 0; c < out.columns; c += lanes) {
        const int64_t left = out.columns - c;
        const Vec quadratic = all(p.quadratic) * load_some(y + c, left);
        store_some(to + c, multiply_add(all(p.linear), load_some(x + c, left), quadratic), left);
      }
      to[row] += p.constant;
    }
  });
}

inline void copy_floats(const float* x, float* y, int64_t columns) {
  for (int64_t c = 0; c < columns; c += lanes) {
    store_some(y + c, load_some(x + c, columns - c), columns - c);
  }
}

void scatter_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  for_each_row(context, from.rows, from.columns, [&](int64_t r) {
    copy_floats(from.data + r * from.row_stride, to.data + rows[r] * to.stride, from.columns);
  });
}

void gather_rows(Context& context, ConstMatrix from, const int32_t* rows, Matrix to) {
  for_each_row(context, to.rows, to.columns, [&](int64_t r) {
    copy_floats(from.data + rows[r] * from.row_stride, to.data + r * to.stride, to.columns);
  });
}

void pick_columns(Context& context, ConstMatrix from, const ColumnList* lists, Matrix to) {
  for_each_row(context, to.rows, to.columns, [&](int64_t r) {
    const ColumnList& list = lists[r];
    const float* x = from.data + r * from.row_stride;
    float* y = to.data + r * to.stride;
    for (int64_t i = 0; i < to.columns; ++i) y[i] = i < list.count ? x[list.columns[i]] : -__builtin_inff();
  });
}

}  // namespace
}  // namespace dragoman::internal
