// Products: operands as they are, or rounded to bf16 first, go to the library's one function (matmul.h); what it does
// not do with finished rows, a pass over them does.
//
// A packed right operand is dense, row by row, in rows of a multiple of 8 elements.
#pragma once

#include "kernels/cuda/functions.inl.h"
#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t row_elements(int64_t columns) { return ceil_div(columns, 8) * 8; }
constexpr int64_t bf16_floats(int64_t rows, int64_t columns) { return rows * row_elements(columns) / 2; }

GPU_FUNCTION void store_element(float x, float* to) { *to = x; }
GPU_FUNCTION void store_element(float x, Bf16* to) { *to = rounded_to_bf16(x); }

// --- copies of operands -----------------------------------------------------------------------------

// Of a matrix whose rows are contiguous.
template <class T>
GPU_KERNEL copy_operand_kernel(ConstMatrix from, int64_t stride, T* to) {
  const int64_t r = row_of_warp();
  if (r >= from.rows) return;
  const float* x = from.data + r * from.row_stride;
  T* y = to + r * stride;
  for_each_column(from.columns, [=](int64_t c) { store_element(x[c], y + c); });
}

constexpr int square = 32, square_rows = 8;  // a block turns a square, some rows at a time

// Of one whose columns are: its squares are turned in shared memory.
template <class T>
GPU_KERNEL turn_operand_kernel(ConstMatrix from, int64_t stride, T* to) {
  const Shared<float> tile = shared<float>(0);
  const int64_t across = ceil_div(from.columns, square), row = block_index() / across * square,
                column = block_index() % across * square;
  for (int j = warp_index(); j < square; j += square_rows)
    if (column + j < from.columns && row + lane() < from.rows)
      tile[j * (square + 1) + lane()] = from.data[(column + j) * from.column_stride + row + lane()];
  sync_block();
  for (int i = warp_index(); i < square; i += square_rows)
    if (row + i < from.rows && column + lane() < from.columns)
      store_element(tile[lane() * (square + 1) + i], to + (row + i) * stride + column + lane());
}

template <class T>
void copy_operand(Context& context, ConstMatrix from, T* to) {
  const int64_t stride = row_elements(from.columns);
  if (from.column_stride == 1) {
    launch(context, row_grid("copy_operand", from.rows), copy_operand_kernel<T>, from, stride, to);
    return;
  }
  launch(context,
         {"turn_operand", ceil_div(from.rows, square) * ceil_div(from.columns, square),
          square_rows * warp_size, square * (square + 1) * sizeof(float)},
         turn_operand_kernel<T>, from, stride, to);
}

// As it stands in memory.
inline ConstMatrix as_stored(ConstMatrix m) { return m.column_stride == 1 ? m : m.transposed(); }

inline MatmulOperand operand_of(ConstMatrix m) {
  const ConstMatrix stored = as_stored(m);
  return {stored.data, stored.rows, stored.columns, stored.row_stride, m.column_stride != 1};
}
// `memory`: rounded_floats, for a matrix that comes without its rounded copy.
inline MatmulOperand rounded_operand(Context& context, ConstMatrix m, float* memory) {
  const ConstMatrix stored = as_stored(m);
  if (m.rounded != nullptr)
    return {m.rounded, stored.rows, stored.columns, stored.row_stride, m.column_stride != 1};
  copy_operand(context, stored, reinterpret_cast<Bf16*>(memory));
  return {memory, stored.rows, stored.columns, row_elements(stored.columns), m.column_stride != 1};
}
inline int64_t rounded_floats(ConstMatrix m) {
  if (m.rounded != nullptr) return 0;
  const ConstMatrix stored = as_stored(m);
  return ceil_div(bf16_floats(stored.rows, stored.columns), 64) * 64;  // so that what follows it is aligned
}

inline void round_operand(Context& context, ConstMatrix from, Bf16* to) {
  launch(context, row_grid("round_operand", from.rows), copy_operand_kernel<Bf16>, from, from.row_stride, to);
}

// --- the end of a product ---------------------------------------------------------------------------

struct RowEnd {
  const float *scales, *bias;  // of columns; null: none
  float* before_activation;
  Bf16* rounded_before_activation;
  Activation activation;
};

GPU_KERNEL finish_rows_kernel(Matrix c, RowEnd end, DropoutMask mask) {
  const int64_t r = row_of_warp();
  if (r >= c.rows) return;
  for_columns(mask, r, c.columns, [=](int64_t j, float multiplier) {
    float x = c.data != nullptr ? c.data[r * c.stride + j] : widened(c.rounded[r * c.stride + j]);
    if (end.scales != nullptr) x *= end.scales[j];
    if (end.bias != nullptr) x += end.bias[j];
    if (end.before_activation != nullptr) end.before_activation[r * c.columns + j] = x;
    if (end.rounded_before_activation != nullptr)
      end.rounded_before_activation[r * c.columns + j] = rounded_to_bf16(x);
    const float y = activate(end.activation, x) * multiplier;
    if (c.data != nullptr) c.data[r * c.stride + j] = y;
    if (c.rounded != nullptr) c.rounded[r * c.stride + j] = rounded_to_bf16(y);
  });
}

// scales: of the columns of b, before all else; null: none.
inline void run_product(Context& context, Matmul product, const float* scales, const Epilogue& epilogue) {
  const bool by_library =
      scales == nullptr && epilogue.before_activation == nullptr &&
      epilogue.rounded_before_activation == nullptr &&
      (epilogue.activation == Activation::none || epilogue.activation == Activation::relu);
  const bool rounded_alone = in_bf16(product.c);
  product.accumulate = epilogue.accumulate;
  RowEnd end = {scales, epilogue.bias, epilogue.before_activation, epilogue.rounded_before_activation,
                epilogue.activation};
  if (by_library) {
    if (rounded_alone) {
      product.bias = epilogue.rounded_bias;
    } else {
      product.bias = epilogue.bias;
    }
    product.relu = epilogue.activation == Activation::relu;
    end = {};
  }
  gpu(context).multiply(product);
  const bool as_it_is = by_library && (rounded_alone || product.c.rounded == nullptr);
  const bool finished = as_it_is && epilogue.dropout.rate == 0;
  if (!finished)
    launch(context, row_grid("finish_rows", product.c.rows), finish_rows_kernel, product.c, end,
           dropout_mask(epilogue.dropout));
}

// --- in the arithmetic of floats --------------------------------------------------------------------

inline int64_t packed_size(int64_t rows, int64_t columns) { return rows * row_elements(columns); }

inline void pack(Context& context, ConstMatrix b, float* packed) { copy_operand(context, b, packed); }

template <Arithmetic arithmetic>
void product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c, const Epilogue& epilogue) {
  const MatmulOperand right = {b.data, b.rows, b.columns, row_elements(b.columns), false};
  run_product(context, {arithmetic, operand_of(a), right, c}, nullptr, epilogue);
}

template <Arithmetic arithmetic>
void multiply(Context& context, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& epilogue) {
  run_product(context, {arithmetic, operand_of(a), operand_of(b), c}, nullptr, epilogue);
}

template <Arithmetic arithmetic>
constexpr ProductKernels products_in_floats = {.packed_size = packed_size,
                                               .pack = pack,
                                               .product = product<arithmetic>,
                                               .multiply = multiply<arithmetic>};

// --- in bf16 ----------------------------------------------------------------------------------------

inline int64_t packed_rounded_size(int64_t rows, int64_t columns) { return bf16_floats(rows, columns); }

inline void pack_rounded(Context& context, ConstMatrix b, float* packed) {
  copy_operand(context, b, reinterpret_cast<Bf16*>(packed));
}

inline void rounded_product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c,
                            const Epilogue& epilogue) {
  const MatmulOperand left = rounded_operand(context, a, float_workspace(context, rounded_floats(a)));
  const MatmulOperand right = {b.data, b.rows, b.columns, row_elements(b.columns), false};
  run_product(context, {Arithmetic::bf16, left, right, c}, nullptr, epilogue);
}

inline void rounded_multiply(Context& context, ConstMatrix a, ConstMatrix b, Matrix c,
                             const Epilogue& epilogue) {
  float* memory = float_workspace(context, rounded_floats(a) + rounded_floats(b));
  const MatmulOperand left = rounded_operand(context, a, memory);
  const MatmulOperand right = rounded_operand(context, b, memory + rounded_floats(a));
  run_product(context, {Arithmetic::bf16, left, right, c}, nullptr, epilogue);
}

constexpr ProductKernels rounded_products = {.packed_size = packed_rounded_size,
                                             .pack = pack_rounded,
                                             .product = rounded_product,
                                             .multiply = rounded_multiply};

}  // namespace
}  // namespace dragoman::internal
