// What an algorithm of cuBLASLt's is chosen for: all of a product but what may not change its bits. Nothing of CUDA is
// here, so that it is tested without a GPU.
//
// An algorithm fixes the order in which an element's products are added. The number of rows of c may not change it, nor
// where the rows lie in memory: cuBLASLt is asked for `usual_rows` of them, whatever there are, and told of no better
// alignment than every row has. Only where a is transposed is it asked for the real number of rows: that is a weight's
// gradient, whose rows are the model's and often few, which want small tiles, or a sum that is split. The inner index
// is the batch's there, and its size is rounded up to a power of two, so that not every batch asks anew.
#pragma once

#include <stdint.h>

#include <compare>

#include "kernels/cuda/matmul.h"

namespace dragoman::internal {

constexpr int64_t usual_rows = 4096;

struct ProductKey {
  Arithmetic arithmetic;
  bool a_transposed, b_transposed, in_bf16, accumulate, bias, relu;  // in_bf16: c
  int64_t rows, inner, columns;                                      // that are asked for
  int a_alignment, b_alignment, c_alignment, bias_alignment;         // of every row, in bytes

  auto operator<=>(const ProductKey&) const = default;
};

ProductKey key_of(const Matmul& product);

// Of a product, in elements.
struct ProductSizes {
  int64_t rows, inner, columns;
  int64_t a_stride, b_stride, c_stride;
};

// Whether its sums may be split: those of a weight's gradient, which few tiles and a long inner index would leave to
// few of a GPU's processors. Parts are stored and added in their order.
bool may_split(const ProductKey& key);

// Bytes of an element of a and b; of c.
int64_t operand_size(Arithmetic arithmetic);
int64_t result_size(bool in_bf16);
// Of rows of this many elements whose every one is aligned so, but no better.
int64_t usual_stride(int64_t columns, int64_t element_size, int alignment);

int64_t rows_of(const Matmul& product);
int64_t inner_of(const Matmul& product);
int64_t columns_of(const Matmul& product);

}  // namespace dragoman::internal
