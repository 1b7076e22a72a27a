#include "kernels/cuda/gpu/product_key.h"

#include <algorithm>
#include <bit>

namespace dragoman::internal {
namespace {

// No kernel asks for more, and a better alignment would only make more keys of one product: the steps of decoding must
// have the bits of training, whose rows may lie otherwise.
constexpr uint64_t best_alignment = 16;

int alignment_of(const void* data, int64_t stride_bytes) {
  const uint64_t bits =
      reinterpret_cast<uintptr_t>(data) | static_cast<uint64_t>(stride_bytes) | best_alignment;
  return static_cast<int>(uint64_t{1} << std::countr_zero(bits));
}

}  // namespace

int64_t operand_size(Arithmetic arithmetic) { return arithmetic == Arithmetic::bf16 ? 2 : 4; }
int64_t result_size(bool in_bf16) { return in_bf16 ? 2 : 4; }

int64_t usual_stride(int64_t columns, int64_t element_size, int alignment) {
  const auto best = static_cast<int64_t>(best_alignment);
  const int64_t bytes = (columns * element_size + best - 1) / best * best;
  return (bytes + (alignment < best ? alignment : 0)) / element_size;
}

int64_t rows_of(const Matmul& product) { return product.a.transposed ? product.a.columns : product.a.rows; }
int64_t inner_of(const Matmul& product) { return product.a.transposed ? product.a.rows : product.a.columns; }
int64_t columns_of(const Matmul& product) {
  return product.b.transposed ? product.b.rows : product.b.columns;
}

bool may_split(const ProductKey& key) { return key.a_transposed && !key.b_transposed; }

ProductKey key_of(const Matmul& product) {
  const int64_t size = operand_size(product.arithmetic);
  const bool gradient = product.a.transposed && !product.b.transposed;
  const int64_t inner = inner_of(product);
  const bool rounded = in_bf16(product.c);
  const void* const c = rounded ? static_cast<const void*>(product.c.rounded) : product.c.data;
  return {
      .arithmetic = product.arithmetic,
      .a_transposed = product.a.transposed,
      .b_transposed = product.b.transposed,
      .in_bf16 = rounded,
      .accumulate = product.accumulate,
      .bias = product.bias != nullptr,
      .relu = product.relu,
      .rows = product.a.transposed ? rows_of(product) : usual_rows,
      .inner = gradient ? static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(inner))) : inner,
      .columns = columns_of(product),
      .a_alignment = alignment_of(product.a.data, product.a.stride * size),
      .b_alignment = alignment_of(product.b.data, product.b.stride * size),
      .c_alignment = alignment_of(c, product.c.stride * result_size(rounded)),
      .bias_alignment = alignment_of(product.bias, 0),
  };
}

}  // namespace dragoman::internal
