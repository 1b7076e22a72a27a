// The states of simpler simple recurrent units, token by token; and the backward, from the last token to the first. A
// thread has one column of one span.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr int ssru_threads = 64;

inline Grid ssru_grid(const char* name, const SsruShape& shape, int64_t columns) {
  return {name, shape.spans_count * ceil_div(columns, ssru_threads), ssru_threads};
}
struct SpanAndColumn {
  int64_t span, column;
};
GPU_FUNCTION SpanAndColumn ssru_part(int64_t columns) {
  const int64_t runs = ceil_div(columns, ssru_threads);
  return {block_index() / runs, block_index() % runs * ssru_threads + thread_index()};
}

GPU_KERNEL ssru_kernel(SsruShape shape, ConstMatrix gate, ConstMatrix input, ConstMatrix seen, Matrix states,
                       Matrix out) {
  const SpanAndColumn part = ssru_part(states.columns);
  const int64_t c = part.column;
  if (c >= states.columns) return;
  float state = 0;
  if (shape.key_rows != nullptr && shape.keys[part.span].length >= 2) {
    const Span keys = shape.keys[part.span];
    state = element(seen, shape.key_rows[keys.begin + keys.length - 2], c);
  }
  const int64_t begin = shape.spans[part.span].begin, end = begin + shape.spans[part.span].length;
  for (int64_t r = begin; r < end; ++r) {
    const float keep = sigmoid(element(gate, r, c));
    const float added = element(input, r, c);
    state = fmaf(keep, state - added, added);
    set_element(states, r, c, state);
    set_element(out, r, c, relu(state));
  }
}

void ssru(Context& context, const SsruShape& shape, ConstMatrix gate, ConstMatrix input, ConstMatrix seen,
          Matrix states, Matrix out) {
  launch(context, ssru_grid("ssru", shape, states.columns), ssru_kernel, shape, gate, input, seen, states,
         out);
}

GPU_KERNEL ssru_backward_kernel(SsruShape shape, ConstMatrix gate, ConstMatrix input, ConstMatrix states,
                                ConstMatrix out_gradient, Matrix gate_gradient, Matrix input_gradient) {
  const SpanAndColumn part = ssru_part(states.columns);
  const int64_t c = part.column;
  if (c >= states.columns) return;
  const int64_t begin = shape.spans[part.span].begin, end = begin + shape.spans[part.span].length;
  float later = 0;  // the gradient that the next row's state gives to this one's
  for (int64_t r = end - 1; r >= begin; --r) {
    const float e = expf(-element(gate, r, c));
    const float keep = 1 / (1 + e), add = e * keep;  // f and 1 − f
    const float x = element(input, r, c);
    const float before = r > begin ? element(states, r - 1, c) : 0;
    const float d = later + (element(states, r, c) > 0 ? element(out_gradient, r, c) : 0);
    set_element(gate_gradient, r, c, d * (before - x) * keep * add);
    set_element(input_gradient, r, c, d * add);
    later = d * keep;
  }
}

void ssru_backward(Context& context, const SsruShape& shape, ConstMatrix gate, ConstMatrix input,
                   ConstMatrix states, ConstMatrix out_gradient, Matrix gate_gradient,
                   Matrix input_gradient) {
  launch(context, ssru_grid("ssru_backward", shape, states.columns), ssru_backward_kernel, shape, gate, input,
         states, out_gradient, gate_gradient, input_gradient);
}

}  // namespace
}  // namespace dragoman::internal
