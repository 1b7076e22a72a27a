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

// Some columns of a matrix, as many as a panel has or fewer. They are read row by row, as weights stand in memory.
struct Panel {
  ConstMatrix of;
  int64_t begin, columns;

  float element(int64_t row, int64_t column) const {
    return of.data[row * of.row_stride + (begin + column) * of.column_stride];
  }
};

struct PanelScales {
  float of_column[low_precision_panel_columns] = {};
};

// 0 for a column of zeros.
PanelScales scales_of(const Panel& panel, const float* known) {
  PanelScales scales;
  for (int64_t k = 0; k < panel.of.rows; ++k) {
    for (int64_t j = 0; j < panel.columns; ++j) {
      const float magnitude = std::fabs(panel.element(k, j));
      if (magnitude > scales.of_column[j]) scales.of_column[j] = magnitude;
    }
  }
  for (int64_t j = 0; j < panel.columns; ++j) {
    const bool is_known = known != nullptr && known[panel.begin + j] > 0;
    scales.of_column[j] = is_known ? known[panel.begin + j] : scales.of_column[j] / 127;
  }
  return scales;
}

// The nearest number of steps of the scale, even for what is not finite.
int32_t steps_of(float x, float scale) {
  constexpr float to_nearest = 3 << 22;  // behind a sum with it there is room for integers alone
  if (!(scale > 0)) return 0;
  float steps = x / scale;
  steps = steps < 127 ? steps : 127;
  steps = steps > -127 ? steps : -127;
  return std::bit_cast<int32_t>(steps + to_nearest) - std::bit_cast<int32_t>(to_nearest);
}

void write_row(const Panel& panel, int64_t k, const PanelScales& scales, unsigned char* place) {
  for (int64_t j = 0; j < panel.columns; ++j)
    place[j * low_precision_column_bytes] =
        static_cast<unsigned char>(128 + steps_of(panel.element(k, j), scales.of_column[j]));
}

void write_row(const Panel& panel, int64_t k, unsigned char* place) {
  for (int64_t j = 0; j < panel.columns; ++j) {
    const uint16_t bits = to_bf16(panel.element(k, j));
    std::memcpy(place + j * low_precision_column_bytes, &bits, sizeof bits);
  }
}

// Calls body(number, panel) for all panels.
template <class Body>
void for_each_panel(CpuContext& context, ConstMatrix b, const Body& body) {
  const auto run = [&](int64_t number) {
    const int64_t begin = number * low_precision_panel_columns;
    body(number, Panel{b, begin, std::min(b.columns - begin, low_precision_panel_columns)});
  };
  context.parallel(
      panel_count(b.columns),
      [](void* argument, int64_t number, int) { (*static_cast<const decltype(run)*>(argument))(number); },
      const_cast<void*>(static_cast<const void*>(&run)));
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
  for_each_panel(context, b, [&](int64_t number, const Panel& panel) {
    unsigned char* const bytes = data + number * panel_bytes;
    std::memset(bytes, padding(precision), static_cast<size_t>(panel_bytes));
    const int64_t of_line = inner_of_line(precision), element_bytes = low_precision_column_bytes / of_line;
    const auto place = [&](int64_t k) {
      return bytes + k / of_line * low_precision_line_bytes + k % of_line * element_bytes;
    };
    if (precision == Precision::int8) {
      const PanelScales own = scales_of(panel, known_scales);
      std::copy_n(own.of_column, panel.columns, scales + panel.begin);
      for (int64_t k = 0; k < b.rows; ++k) write_row(panel, k, own, place(k));
    } else {
      for (int64_t k = 0; k < b.rows; ++k) write_row(panel, k, place(k));
    }
  });
  return {precision, data, scales, b.rows, b.columns};
}

void round_to_int8(CpuContext& context, ConstMatrix b, float* out) {
  for_each_panel(context, b, [&](int64_t, const Panel& panel) {
    const PanelScales scales = scales_of(panel, nullptr);
    for (int64_t k = 0; k < b.rows; ++k) {
      for (int64_t j = 0; j < panel.columns; ++j) {
        const float scale = scales.of_column[j];
        out[k * b.row_stride + (panel.begin + j) * b.column_stride] =
            static_cast<float>(steps_of(panel.element(k, j), scale)) * scale;
      }
    }
  });
}

}  // namespace dragoman::internal
