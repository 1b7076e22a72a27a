// What a product does with finished rows while they are in the cache: bias, activation, dropout.
#pragma once

#include <stdint.h>

#include "kernels/cpu/functions.inl.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

inline bool has_work(const Epilogue& epilogue) {
  return epilogue.bias != nullptr || epilogue.before_activation != nullptr ||
         epilogue.activation != Activation::none || epilogue.dropout.rate > 0;
}

template <Activation activation>
Vec activate(Vec x) {
  if constexpr (activation == Activation::relu) return relu(x);
  if constexpr (activation == Activation::gelu) return gelu(x);
  if constexpr (activation == Activation::gelu_tanh) return gelu_tanh(x);
  if constexpr (activation == Activation::gelu_sigmoid) return gelu_sigmoid(x);
  if constexpr (activation == Activation::swish) return swish(x);
  return x;
}

// bias and kept may be null.
template <Activation activation>
void finish_row(float* row, int64_t columns, const float* bias, float* kept) {
  for (int64_t j = 0; j < columns; j += lanes) {
    const int64_t left = columns - j;
    Vec v = load_some(row + j, left);
    if (bias != nullptr) v += load_some(bias + j, left);
    if (kept != nullptr) store_some(kept + j, v, left);
    store_some(row + j, activate<activation>(v), left);
  }
}

inline void finish_row(Activation activation, float* row, int64_t columns, const float* bias, float* kept) {
  switch (activation) {
    case Activation::none:
      return finish_row<Activation::none>(row, columns, bias, kept);
    case Activation::relu:
      return finish_row<Activation::relu>(row, columns, bias, kept);
    case Activation::gelu:
      return finish_row<Activation::gelu>(row, columns, bias, kept);
    case Activation::gelu_tanh:
      return finish_row<Activation::gelu_tanh>(row, columns, bias, kept);
    case Activation::gelu_sigmoid:
      return finish_row<Activation::gelu_sigmoid>(row, columns, bias, kept);
    case Activation::swish:
      return finish_row<Activation::swish>(row, columns, bias, kept);
  }
}

// Rows [first_row, first_row + rows) of c, its columns [column, column + columns): column is a multiple of 64.
inline void finish_rows(const Epilogue& epilogue, const Matrix& c, int64_t first_row, int64_t rows,
                        int64_t column, int64_t columns) {
  const float* bias = epilogue.bias != nullptr ? epilogue.bias + column : nullptr;
  const bool dropping = epilogue.dropout.rate > 0;
  const DropoutMask mask = dropout_mask(epilogue.dropout);
  for (int64_t i = first_row; i < first_row + rows; ++i) {
    float* row = c.data + i * c.stride + column;
    float* kept = epilogue.before_activation;
    if (kept != nullptr) kept += i * c.columns + column;
    finish_row(epilogue.activation, row, columns, bias, kept);
    if (dropping) apply_dropout(mask, epilogue.dropout.rows[i], column, columns, row);
  }
}

}  // namespace
}  // namespace dragoman::internal
