// Products: operands as they are, or rounded to bf16 first, go to the library's one function (matmul.h); what it does
// not do with finished rows, a pass over them does.
//
// A packed right operand is dense, row by row, in rows of whole eights, since the library's fast algorithms want rows
// aligned to 16 bytes.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

constexpr int64_t row_elements(int64_t columns) { return ceil_div(columns, 8) * 8; }
constexpr int64_t bf16_floats(int64_t rows, int64_t columns) { return rows * row_elements(columns) / 2; }

// In the type of the place.
GPU_FUNCTION void store_as(float x, float* to) { *to = x; }
GPU_FUNCTION void store_as(float x, Bf16* to) { *to = rounded_to_bf16(x); }
GPU_FUNCTION void store_as(const Four& x, float* to) { store_four(x, to); }
GPU_FUNCTION void store_as(const Four& x, Bf16* to) { store_four(rounded_to_bf16(x), to); }

// --- copies of operands -----------------------------------------------------------------------------

// Of a matrix whose rows are contiguous: in fours, or any.
template <class T>
GPU_KERNEL copy_operand_fours_kernel(ConstMatrix from, int64_t stride, T* to) {
  const PartOfRow part = part_of_warp(from.columns);
  if (part.row >= from.rows) return;
  const ConstMatrix own = from_column(from, part.first);
  T* y = to + part.row * stride + part.first;
  const auto row = load_as<float, steps_of_part>(own, part.row);
  for_fours<steps_of_part>(own.columns, [&](int i, int c) { store_as(row.four[i], y + c); });
}
template <class T>
GPU_KERNEL copy_operand_kernel(ConstMatrix from, int64_t stride, T* to) {
  const int64_t r = row_of_warp();
  if (r >= from.rows) return;
  const float* x = from.data + r * from.row_stride;
  T* y = to + r * stride;
  for_each_column(from.columns, [=](int64_t c) { store_as(x[c], y + c); });
}

template <class T>
void copy_rows_of_operand(Context& context, const char* name, ConstMatrix from, int64_t stride, T* to) {
  if (in_fours(from) && stride % 4 == 0 && is_multiple_of(to, 4 * sizeof(T)))
    launch(context, part_grid(name, from.rows, from.columns), copy_operand_fours_kernel<T>, from, stride, to);
  else
    launch(context, row_grid(name, from.rows), copy_operand_kernel<T>, from, stride, to);
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
      store_as(tile[lane() * (square + 1) + i], to + (row + i) * stride + column + lane());
}

template <class T>
void copy_operand(Context& context, ConstMatrix from, T* to) {
  const int64_t stride = row_elements(from.columns);
  if (from.column_stride == 1) {
    copy_rows_of_operand(context, "copy_operand", from, stride, to);
    return;
  }
  launch(context,
         {"turn_operand", ceil_div(from.rows, square) * ceil_div(from.columns, square),
          square_rows * warp_size, square * (square + 1) * sizeof(float)},
         turn_operand_kernel<T>, from, stride, to);
}

// As it stands in memory. A single row may claim any stride: the library wants one that the row fits into.
inline ConstMatrix as_stored(ConstMatrix m) {
  ConstMatrix stored = m.column_stride == 1 ? m : m.transposed();
  if (stored.rows <= 1 && stored.row_stride < stored.columns) stored.row_stride = stored.columns;
  return stored;
}

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
  from.rounded = nullptr;  // of what is read
  copy_rows_of_operand(context, "round_operand", from, from.row_stride, to);
}

// --- the end of a product ---------------------------------------------------------------------------

struct RowEnd {
  const float *scales, *bias;  // of columns; null: none
  float* before_activation;    // dense
  Activation activation;
  Bf16* rounded_before_activation = nullptr;
};
GPU_FUNCTION Matrix before_activation(const RowEnd& end, const Matrix& c) {
  return {end.before_activation, c.rows, c.columns, c.columns, end.rounded_before_activation};
}

// `general`: with any activation, of which relu and none take the fewest instructions.
template <bool general>
GPU_FUNCTION float activated(Activation activation, float x) {
  if constexpr (general) {
    return activate(activation, x);
  } else {
    return activation == Activation::relu ? relu(x) : x;
  }
}

GPU_FUNCTION const float* at_column(const float* values, int64_t column) {
  return values != nullptr ? values + column : nullptr;
}

// A warp has a part of a row, in fours.
template <bool general>
GPU_KERNEL finish_rows_fours_kernel(Matrix c, RowEnd end, DropoutMask mask) {
  const PartOfRow part = part_of_warp(c.columns);
  const int64_t r = part.row, columns = c.columns - part.first;
  if (r >= c.rows) return;
  const Matrix own = from_column(c, part.first);
  const auto scales = load_values<steps_of_part>(at_column(end.scales, part.first), columns),
             bias = load_values<steps_of_part>(at_column(end.bias, part.first), columns);
  WideRow<steps_of_part> x = load_row<steps_of_part>(as_read(own), r);
#pragma unroll
  for (int n = 0; n < steps_of_part * columns_of_lane; ++n) {
    float& each = x.four[n / 4].x[n % 4];
    if (end.scales != nullptr) each *= scales.four[n / 4].x[n % 4];
    if (end.bias != nullptr) each += bias.four[n / 4].x[n % 4];
  }
  store_row(x, from_column(before_activation(end, c), part.first), r);
  for_dropped<steps_of_part>(mask, r, part.first, [&](int i, int j, float multiplier) {
    x.four[i].x[j] = activated<general>(end.activation, x.four[i].x[j]) * multiplier;
  });
  store_row(x, own, r);
}

// Any row.
GPU_KERNEL finish_rows_kernel(Matrix c, RowEnd end, DropoutMask mask) {
  const int64_t r = row_of_warp();
  if (r >= c.rows) return;
  for_columns(mask, r, c.columns, [=](int64_t j, float multiplier) {
    float x = element(as_read(c), r, j);
    if (end.scales != nullptr) x *= end.scales[j];
    if (end.bias != nullptr) x += end.bias[j];
    set_element(before_activation(end, c), r, j, x);
    set_element(c, r, j, activate(end.activation, x) * multiplier);
  });
}

inline void finish_rows(Context& context, const Matrix& c, const RowEnd& end, const Dropout& dropout) {
  const Matrix before = {end.before_activation, c.rows, c.columns, c.columns, end.rounded_before_activation};
  const DropoutMask mask = dropout_mask(dropout);
  if (!in_fours(c) || !in_fours(before) || !in_fours(end.scales) || !in_fours(end.bias)) {
    launch(context, row_grid("finish_rows", c.rows), finish_rows_kernel, c, end, mask);
    return;
  }
  const bool general = end.activation != Activation::none && end.activation != Activation::relu;
  launch(context, part_grid("finish_rows", c.rows, c.columns),
         general ? finish_rows_fours_kernel<true> : finish_rows_fours_kernel<false>, c, end, mask);
}

// scales: of the columns of b, before all else; null: none.
inline void run_product(Context& context, Matmul product, const float* scales, const Epilogue& epilogue) {
  const bool rounded_alone = in_bf16(product.c);
  // The library takes a bias in c's type alone.
  const bool has_its_bias = epilogue.bias == nullptr || !rounded_alone || epilogue.rounded_bias != nullptr;
  const bool by_library =
      scales == nullptr && has_its_bias && epilogue.before_activation == nullptr &&
      epilogue.rounded_before_activation == nullptr &&
      (epilogue.activation == Activation::none || epilogue.activation == Activation::relu);
  product.accumulate = epilogue.accumulate;
  RowEnd end = {scales, epilogue.bias, epilogue.before_activation, epilogue.activation,
                epilogue.rounded_before_activation};
  if (by_library) {
    product.bias = rounded_alone ? static_cast<const void*>(epilogue.rounded_bias) : epilogue.bias;
    product.relu = epilogue.activation == Activation::relu;
    end = {};
  }
  gpu(context).multiply(product);
  const bool as_it_is = by_library && (rounded_alone || product.c.rounded == nullptr);
  const bool finished = as_it_is && epilogue.dropout.rate == 0;
  if (!finished) finish_rows(context, product.c, end, epilogue.dropout);
}

// --- many small products ----------------------------------------------------------------------------

constexpr size_t argument_bytes = 4096;  // that a kernel may have
constexpr int64_t products_of_launch = (argument_bytes - sizeof(int64_t)) / sizeof(SmallProduct);

struct SmallProducts {
  int64_t squares;  // blocks for each of them
  SmallProduct list[products_of_launch];
};

// Zero outside.
template <bool rounds>
GPU_FUNCTION float factor(const ConstMatrix& m, int64_t row, int64_t column) {
  if (row >= m.rows || column >= m.columns) return 0;
  const float x = m.data[row * m.row_stride + column * m.column_stride];
  return rounds ? widened(rounded_to_bf16(x)) : x;
}

// A block computes a square of one of them, from squares of both operands in shared memory.
template <bool rounds>
GPU_KERNEL small_products_kernel(SmallProducts products) {
  const SmallProduct& p = products.list[block_index() / products.squares];
  const int64_t number = block_index() % products.squares, across = ceil_div(p.c.columns, square),
                row = number / across * square, column = number % across * square;
  if (row >= p.c.rows) return;
  constexpr int stride = square + 1, own_rows = square / square_rows;
  const Shared<float> a = shared<float>(0), b = shared<float>(square * stride * sizeof(float));
  float sums[own_rows] = {};
  for (int64_t inner = 0; inner < p.a.columns; inner += square) {
    for (int i = warp_index(); i < square; i += square_rows) {
      a[i * stride + lane()] = factor<rounds>(p.a, row + i, inner + lane());
      b[i * stride + lane()] = factor<rounds>(p.b, inner + i, column + lane());
    }
    sync_block();
    for (int k = 0; k < square; ++k) {
      const float right = b[k * stride + lane()];
#pragma unroll
      for (int i = 0; i < own_rows; ++i)
        sums[i] = fmaf(a[(warp_index() + i * square_rows) * stride + k], right, sums[i]);
    }
    sync_block();
  }
#pragma unroll
  for (int i = 0; i < own_rows; ++i) {
    const int64_t r = row + warp_index() + i * square_rows, c = column + lane();
    if (r >= p.c.rows || c >= p.c.columns) continue;
    float& sum = p.c.data[r * p.c.stride + c];
    sum = p.accumulate ? sum + sums[i] : sums[i];
  }
}

template <bool rounds>
void multiply_each(Context& context, const SmallProduct* products, int64_t count) {
  for (int64_t first = 0; first < count; first += products_of_launch) {
    const int64_t some = count - first < products_of_launch ? count - first : products_of_launch;
    SmallProducts together = {};
    for (int64_t i = 0; i < some; ++i) {
      const SmallProduct& p = together.list[i] = products[first + i];
      const int64_t squares = ceil_div(p.c.rows, square) * ceil_div(p.c.columns, square);
      if (squares > together.squares) together.squares = squares;
    }
    launch(context,
           {"small_products", some * together.squares, square_rows * warp_size,
            2 * square * (square + 1) * sizeof(float)},
           small_products_kernel<rounds>, together);
  }
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
                                               .multiply = multiply<arithmetic>,
                                               .multiply_each = multiply_each<false>};

// --- in bf16 ----------------------------------------------------------------------------------------

inline int64_t packed_rounded_size(int64_t rows, int64_t columns) { return bf16_floats(rows, columns); }

inline void pack_rounded(Context& context, ConstMatrix b, float* packed) {
  copy_operand(context, b, reinterpret_cast<Bf16*>(packed));
}

inline void rounded_product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c,
                            const Epilogue& epilogue) {
  float* memory = float_workspace(context, rounded_floats(a));
  const MatmulOperand left = rounded_operand(context, a, memory);
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
                                             .multiply = rounded_multiply,
                                             .multiply_each = multiply_each<true>};

}  // namespace
}  // namespace dragoman::internal
