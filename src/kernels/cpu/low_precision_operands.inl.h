// What products with low precision read and write: rows of a, copied as the arithmetic wants them, and sums, which
// become floats of c.
#pragma once

#include <stdint.h>

#include "kernels/cpu/low_precision_arithmetic.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// --- the left operand -------------------------------------------------------------------------------

// How many rows after the last one may be read, by a tile of AMX that is not full. Their contents do not matter.
template <class Kind>
constexpr int64_t rows_behind = requires {
  Kind::uses_tiles;
}
? 15 : 0;

// Whether copying a row may leave an excess of it to be multiplied separately (Excess).
template <class Kind>
constexpr bool has_excess = requires {
  Kind::copy;
};

// The number that b's bytes have been increased by when they are multiplied.
template <class Kind>
constexpr uint32_t added_to_bytes = requires {
  Kind::is_signed;
}
? 0 : 128;

template <class Kind>
int64_t lines_of(int64_t inner) {
  return ceil_div(inner, Kind::inner_of_line);
}

// The rows of a as products read them, and what turns an int8 sum back into a float: (sum − offset) · scale · b's
// scale. The offset removes what is added to b's bytes. The stride is a little more than a row's length, so that rows
// do not fall into one set of the cache.
template <class Kind>
struct LeftRows {
  typename Kind::Element* elements;
  int64_t stride;
  float* scales;
  uint32_t* offsets;
  int32_t* excess;
  int64_t most_excess;  // lines of a row

  typename Kind::Element* row(int64_t i) const { return elements + i * stride; }
  Excess excess_of(int64_t i) const {
    int32_t* place = excess + i * (1 + 2 * most_excess);
    return {.count = place, .lines = place + 1, .bytes = place + 1 + most_excess};
  }
};

template <class Kind>
LeftRows<Kind> left_rows(Context& context, int64_t rows, int64_t inner) {
  constexpr int64_t element = sizeof(typename Kind::Element);
  const int64_t length = lines_of<Kind>(inner) * Kind::inner_of_line * element;
  const int64_t stride = ceil_div(length, 64) * 64 + 64;
  const int64_t most_excess = has_excess<Kind> ? stride / Kind::inner_of_line : 0;
  rows += rows_behind<Kind>;
  auto* memory = static_cast<char*>(
      cpu(context).shared(static_cast<size_t>(rows * (stride + 4 * (3 + 2 * most_excess)))));
  char* scales = memory + rows * stride;
  return {.elements = reinterpret_cast<typename Kind::Element*>(memory),
          .stride = stride / element,
          .scales = reinterpret_cast<float*>(scales),
          .offsets = reinterpret_cast<uint32_t*>(scales + rows * 4),
          .excess = reinterpret_cast<int32_t*>(scales + rows * 8),
          .most_excess = most_excess};
}

// NaN where there is one: without their signs, the bits of floats are in the order of the numbers, and NaN comes last.
inline float largest_magnitude(const float* x, int64_t count) {
  Ints top = {};
  for (int64_t k = 0; k < count; k += lanes) {
    const Ints bits = reinterpret_cast<Ints>(load_some(x + k, count - k)) & 0x7fffffff;
    top = bits > top ? bits : top;
  }
  const float total = sum(reinterpret_cast<Vec>(top));
  return total != total ? total : largest(reinterpret_cast<Vec>(top));
}

// All lanes: after a row's last element come zeros, for padded lines.
template <class Element>
void store_elements(Element* to, Ints v) {
  typedef Element Rounded __attribute__((vector_size(sizeof(Element) * lanes)));
  const Rounded narrowed = __builtin_convertvector(v, Rounded);
  __builtin_memcpy(to, &narrowed, sizeof narrowed);
}

// Tiles read whole pieces of 64 bytes: zeros behind the last element.
template <class Kind>
void fill_last_piece([[maybe_unused]] const LeftRows<Kind>& left, [[maybe_unused]] int64_t i,
                     [[maybe_unused]] int64_t inner) {
  if constexpr (rows_behind<Kind> == 0) return;
  constexpr int64_t of_piece = 64 / sizeof(typename Kind::Element);
  const int64_t written = ceil_div(inner, lanes) * lanes, end = ceil_div(inner, of_piece) * of_piece;
  for (int64_t k = written; k < end; ++k) left.row(i)[k] = {};
}

// Returns the sum of a row's elements: unsigned, since what NaN was rounded to wraps.
template <class Kind>
uint32_t copy_elements(const LeftRows<Kind>& left, int64_t i, const float* x, int64_t inner, Vec inverse) {
  if constexpr (has_excess<Kind>) {
    return Kind::copy(x, inner, inverse, left.row(i), left.excess_of(i));
  } else {
    Words total = {};
    for (int64_t k = 0; k < inner; k += lanes) {
      const Ints steps = round_to_int(load_some(x + k, inner - k) * inverse);
      total += reinterpret_cast<Words>(steps);
      store_elements(left.row(i) + k, Kind::in_order(steps));
    }
    uint32_t sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += total[lane];
    return sum;
  }
}

template <class Kind>
void copy_row(const LeftRows<Kind>& left, int64_t i, const float* x, int64_t inner) {
  fill_last_piece(left, i, inner);
  const float most = largest_magnitude(x, inner);
  left.offsets[i] = added_to_bytes<Kind> * copy_elements(left, i, x, inner, all(most == 0 ? 0 : 127 / most));
  left.scales[i] = most / 127;
}

inline void copy_row(const LeftRows<Bf16>& left, int64_t i, const float* x, int64_t inner) {
  fill_last_piece(left, i, inner);
  for (int64_t k = 0; k < inner; k += lanes) {
    const Words bits = to_bf16(load_some(x + k, inner - k));
    if constexpr (sizeof(Bf16::Element) == sizeof(float)) {
      store(reinterpret_cast<float*>(left.row(i)) + k, reinterpret_cast<Vec>(bits << 16));
    } else {
      store_elements(left.row(i) + k, reinterpret_cast<Ints>(bits));
    }
  }
}

// --- the result --------------------------------------------------------------------------------------

// Rows [row, row + rows) of c and `columns` of its columns from `column` on.
// Prefetches what the next columns will read: `upcoming`, and a step further on for each line.
struct LowPrecisionTile {
  const LowPrecisionMatrix& b;
  const Matrix& c;
  int64_t row, column, columns;
  const unsigned char* upcoming;
  int64_t upcoming_step;
};

// `count` of them, which may be 0.
template <class Kind>
Vec value_of(const LeftRows<Kind>& left, const LowPrecisionTile& tile, int64_t row, Words sum, int64_t j,
             int64_t count) {
  const Vec scales = count > 0 ? load_some(tile.b.scales + tile.column + j, count) : Vec{};
  const Words exact = sum - left.offsets[row];
  return to_float(reinterpret_cast<Ints>(exact)) * (all(left.scales[row]) * scales);
}
inline Vec value_of(const LeftRows<Bf16>&, const LowPrecisionTile&, int64_t, Vec sum, int64_t, int64_t) {
  return sum;
}

}  // namespace
}  // namespace dragoman::internal
