// The states of simpler simple recurrent units, token by token; and the backward, from the last token to the first.
#pragma once

#include "kernels/cpu/functions.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

constexpr int64_t ssru_columns = 256;  // of a task

// body(span, first column, columns) for blocks of columns of each span.
template <class Body>
void for_each_span_block(Context& context, const SsruShape& shape, int64_t columns, const Body& body) {
  const int64_t blocks = ceil_div(columns, ssru_columns);
  for_each_task(context, shape.spans_count * blocks, [&](int64_t task, int) {
    const int64_t first = task % blocks * ssru_columns;
    body(task / blocks, first, smaller(ssru_columns, columns - first));
  });
}

// The state before a span's first row, or null where there is none.
inline const float* state_before(const SsruShape& shape, int64_t span, ConstMatrix seen) {
  if (shape.key_rows == nullptr || shape.keys[span].length < 2) return nullptr;
  const Span keys = shape.keys[span];
  return seen.data + shape.key_rows[keys.begin + keys.length - 2] * seen.row_stride;
}

void ssru(Context& context, const SsruShape& shape, ConstMatrix gate, ConstMatrix input, ConstMatrix seen,
          Matrix states, Matrix out) {
  for_each_span_block(context, shape, states.columns, [&](int64_t span, int64_t first, int64_t columns) {
    const float* before = state_before(shape, span, seen);
    if (before != nullptr) before += first;
    const int64_t begin = shape.spans[span].begin, end = begin + shape.spans[span].length;
    for (int64_t r = begin; r < end; ++r) {
      const float* g = gate.data + r * gate.row_stride + first;
      const float* x = input.data + r * input.row_stride + first;
      float* state = states.data + r * states.stride + first;
      float* y = out.data + r * out.stride + first;
      for (int64_t c = 0; c < columns; c += lanes) {
        const int64_t left = columns - c;
        const Vec kept = before != nullptr ? load_some(before + c, left) : Vec{},
                  added = load_some(x + c, left);
        const Vec sum = multiply_add(sigmoid(load_some(g + c, left)), kept - added, added);
        store_some(state + c, sum, left);
        store_some(y + c, relu(sum), left);
      }
      before = state;
    }
  });
}

void ssru_backward(Context& context, const SsruShape& shape, ConstMatrix gate, ConstMatrix input,
                   ConstMatrix states, ConstMatrix out_gradient, Matrix gate_gradient,
                   Matrix input_gradient) {
  for_each_span_block(context, shape, states.columns, [&](int64_t span, int64_t first, int64_t columns) {
    const int64_t begin = shape.spans[span].begin, end = begin + shape.spans[span].length;
    for (int64_t c = first; c < first + columns; c += lanes) {
      const int64_t left = first + columns - c;
      Vec later = {};  // the gradient that the next row's state gives to this one's
      for (int64_t r = end - 1; r >= begin; --r) {
        const Vec e = exponential(-load_some(gate.data + r * gate.row_stride + c, left));
        const Vec keep = all(1.0f) / (all(1.0f) + e), add = e * keep;  // f and 1 − f
        const Vec x = load_some(input.data + r * input.row_stride + c, left);
        const float* state = states.data + r * states.row_stride + c;
        const Vec before = r > begin ? load_some(state - states.row_stride, left) : Vec{};
        const Vec dy = load_some(out_gradient.data + r * out_gradient.row_stride + c, left);
        const Vec d = later + (load_some(state, left) > Vec{} ? dy : Vec{});
        store_some(gate_gradient.data + r * gate_gradient.stride + c, d * (before - x) * keep * add, left);
        store_some(input_gradient.data + r * input_gradient.stride + c, d * add, left);
        later = d * keep;
      }
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
