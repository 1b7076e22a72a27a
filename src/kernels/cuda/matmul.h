// The one product that the GPU's kernels take from a library: cuBLASLt on a GPU, the CPU's products in tests.
#pragma once

#include <stdint.h>

#include "kernels/kernels.h"

namespace dragoman::internal {

// fp32: exact products. tf32: operands rounded to 11 bits by the GPU. bf16: operands are bf16 in memory. Sums are fp32.
enum class Arithmetic { fp32, tf32, bf16 };

// A matrix as it stands in memory, rows of `stride` elements; transposed: what is multiplied is its transpose.
struct MatmulOperand {
  const void* data;
  int64_t rows, columns, stride;
  bool transposed;
};

// c = a·b, or c + a·b, then the bias and relu; c is in floats, or in bf16 alone. A row of c has the same bits whatever
// the number of rows: the algorithm does not depend on it, and no sum over the inner index is split, except in a
// weight's gradient, where a is transposed.
struct Matmul {
  Arithmetic arithmetic;
  MatmulOperand a, b;
  Matrix c;
  bool accumulate = false;
  const void* bias = nullptr;  // in c's type
  bool relu = false;
};

// Alone.
inline bool in_bf16(const ConstMatrix& m) { return m.data == nullptr && m.rounded != nullptr; }

}  // namespace dragoman::internal
