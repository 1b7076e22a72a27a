#include "kernels/low_precision.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr int64_t max_int8_inner = INT32_MAX / (255 * 127);  // whose sums fit into 32 bits

int64_t inner_of_line(Precision precision) { return precision == Precision::int8 ? 4 : 2; }
int64_t line_count(Precision precision, int64_t rows) {
  return (rows + inner_of_line(precision) - 1) / inner_of_line(precision);
}
int64_t panel_count(int64_t columns) {
  return (columns + low_precision_panel_columns - 1) / low_precision_panel_columns;
}
int padding(Precision precision) { return precision == Precision::int8 ? 128 : 0; }

float element(ConstMatrix m, int64_t i, int64_t j) { return m.data[i * m.row_stride + j * m.column_stride]; }

// 0 for a column of zeros.
float scale_of_column(ConstMatrix b, int64_t column, const float* known_scales) {
  if (known_scales != nullptr && known_scales[column] > 0) return known_scales[column];
  float largest = 0;
  for (int64_t k = 0; k < b.rows; ++k) largest = std::fmax(largest, std::fabs(element(b, k, column)));
  return largest / 127;
}

unsigned char to_int8(float x, float scale) {
  if (!(scale > 0)) return 128;
  return static_cast<unsigned char>(128 + std::lrint(std::fmax(-127.0f, std::fmin(127.0f, x / scale))));
}

// The column's 4 bytes of each line of its panel.
void low_precision_column(Precision precision, ConstMatrix b, int64_t column, float scale,
                          unsigned char* panel) {
  const int64_t of_line = inner_of_line(precision),
                place = column % low_precision_panel_columns * low_precision_column_bytes;
  for (int64_t k = 0; k < line_count(precision, b.rows) * of_line; ++k) {
    const float x = k < b.rows ? element(b, k, column) : 0.0f;
    unsigned char* line = panel + k / of_line * low_precision_line_bytes + place;
    if (precision == Precision::int8) {
      line[k % of_line] = to_int8(x, scale);
    } else {
      const uint16_t bits = to_bf16(x);
      std::memcpy(line + 2 * (k % of_line), &bits, sizeof bits);
    }
  }
}

// Calls body(panel) for all panels of this many columns.
template <class Body>
void for_each_panel(CpuContext& context, int64_t columns, const Body& body) {
  context.parallel(
      panel_count(columns),
      [](void* argument, int64_t panel, int) { (*static_cast<const Body*>(argument))(panel); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace

uint16_t to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

int64_t low_precision_size(Precision precision, int64_t rows, int64_t columns) {
  return panel_count(columns) * line_count(precision, rows) * low_precision_line_bytes;
}

LowPrecisionMatrix to_low_precision(CpuContext& context, Precision precision, ConstMatrix b,
                                    unsigned char* data, float* scales, const float* known_scales) {
  CHECK(precision != Precision::int8 || b.rows <= max_int8_inner, "{} inner indices", b.rows);
  const int64_t panel_bytes = line_count(precision, b.rows) * low_precision_line_bytes;
  for_each_panel(context, b.columns, [&](int64_t panel) {
    unsigned char* bytes = data + panel * panel_bytes;
    std::memset(bytes, padding(precision), static_cast<size_t>(panel_bytes));
    for (int64_t j = panel * low_precision_panel_columns;
         j < b.columns && j < (panel + 1) * low_precision_panel_columns; ++j) {
      const float scale = precision == Precision::int8 ? scale_of_column(b, j, known_scales) : 0;
      if (precision == Precision::int8) scales[j] = scale;
      low_precision_column(precision, b, j, scale, bytes);
    }
  });
  return {precision, data, scales, b.rows, b.columns};
}

void round_to_int8(CpuContext& context, ConstMatrix b, float* out) {
  for_each_panel(context, b.columns, [&](int64_t panel) {
    const int64_t begin = panel * low_precision_panel_columns,
                  end = std::min(b.columns, begin + low_precision_panel_columns);
    for (int64_t j = begin; j < end; ++j) {
      const float scale = scale_of_column(b, j, nullptr);
      for (int64_t k = 0; k < b.rows; ++k)
        out[k * b.row_stride + j * b.column_stride] =
            static_cast<float>(to_int8(element(b, k, j), scale) - 128) * scale;
    }
  });
}

}  // namespace dragoman::internal
