#include "nn/positions.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman::internal {

double position_value(Positions kind, int64_t position, int64_t column, int64_t width, double base) {
  CHECK((is_added(kind) || kind == Positions::rotary) && !has_fixed_length(kind), "no table is computed");
  const double p = static_cast<double>(position), c = static_cast<double>(column),
               d = static_cast<double>(width);
  if (kind == Positions::rotary) {
    const double half = d / 2, i = column < width / 2 ? c : c - half, angle = p * std::pow(base, -i / half);
    return column < width / 2 ? std::cos(angle) : std::sin(angle);
  }
  if (kind == Positions::halves || kind == Positions::tensor2tensor) {
    const double half = d / 2;
    const double i = column < width / 2 ? c : c - half;
    const double rate = std::pow(10000.0, -i / (kind == Positions::halves ? half : std::max(half - 1, 1.0)));
    return column < width / 2 ? std::sin(p * rate) : std::cos(p * rate);
  }
  const double exponent =
      kind == Positions::raw_index ? 2 * c / d : (c - static_cast<double>(column % 2)) / d;
  const double angle = p / std::pow(10000.0, exponent);
  return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

const Tensor& PositionTable::rows(Pool& pool, int64_t positions) {
  if (table_ && table_.rows() >= positions) return table_;
  if (has_fixed_length(kind_)) {
    throw Error(
        "a sentence has {} tokens, but the model has only {} positions: shorten the input, or raise "
        "model.max_positions and train again",
        positions, table_.rows());
  }
  const int64_t rows = std::max<int64_t>(positions, table_ ? 2 * table_.rows() : 128);
  table_ = Tensor(pool, rows, width_);
  const HostView<float> values = table_.new_values();
  float* value = values.data();
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t c = 0; c < width_; ++c)
      *value++ = static_cast<float>(position_value(kind_, first_ + p, c, width_, base_));
  }
  return table_;
}

}  // namespace dragoman::internal
