#include "report/numbers.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"
#include "base/status_line.h"

namespace dragoman::internal {
namespace {

constexpr int smallest_written_out = -4;  // smaller powers of ten are labelled with an exponent

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)); }

}  // namespace

Axis round_axis(double min, double max, int ticks_at_most) {
  CHECK(min <= max && ticks_at_most >= 2, "an axis from {} to {} with {} ticks", min, max, ticks_at_most);
  if (min == max) max = min + 1;
  double power = std::pow(10, std::floor(std::log10((max - min) / ticks_at_most)));
  constexpr double tolerance = 1e-6;  // of a step, so that rounding adds no tick
  for (;; power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * power, first = std::floor(min / step + tolerance),
                   last = std::ceil(max / step - tolerance);
      if (last - first < ticks_at_most) return {first * step, last * step, step};
    }
  }
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> result;
  const auto first = std::lround(axis.min / axis.step), last = std::lround(axis.max / axis.step);
  for (long i = first; i <= last; ++i) result.push_back(static_cast<double>(i) * axis.step);
  return result;
}

std::string tick_label(const Axis& axis, double tick) {
  if (std::abs(tick) < axis.step / 2) return "0";
  if (axis.step >= 1) return with_commas(std::lround(tick));
  const int step_exponent = exponent_of(axis.step);
  if (step_exponent >= smallest_written_out) return fmt::format("{:.{}f}", tick, -step_exponent);
  const int exponent = exponent_of(tick);
  return fmt::format("{:.{}f}e{}", tick / std::pow(10, exponent), exponent - step_exponent, exponent);
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale;
}

double rounded_weight(float weight) { return rounded(static_cast<double>(weight), 5); }

double with_significant_digits(double value, int significant_digits) {
  return std::stod(fmt::format("{:.{}g}", value, significant_digits));
}

}  // namespace dragoman::internal
