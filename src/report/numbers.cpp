#include "report/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/status_line.h"

namespace dragoman::internal {
namespace {

constexpr int smallest_written_out = -4;      // smaller powers of ten are labelled with an exponent,
constexpr double largest_written_out = 1e15;  // and so are larger numbers
constexpr double no_range = 1e-12,
                 empty = 1e-300;  // of the numbers themselves, and at all: they count as one number

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)); }

// As std::stod, which asks the host program's locale for the decimal point, does not.
double read_back(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Axis round_axis(double min, double max, int ticks_at_most) {
  CHECK(min <= max && ticks_at_most >= 2, "an axis from {} to {} with {} ticks", min, max, ticks_at_most);
  const double size = std::max(std::abs(min), std::abs(max));
  if (max - min <= std::max(no_range * size, empty)) max = min + std::max(1.0, 1e-6 * size);
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
  const bool is_small = std::max(std::abs(axis.min), std::abs(axis.max)) < largest_written_out;
  if (is_small && axis.step >= 1) return with_commas(std::lround(tick));
  const int step_exponent = exponent_of(axis.step);
  if (is_small && step_exponent >= smallest_written_out) return fmt::format("{:.{}f}", tick, -step_exponent);
  const int exponent = exponent_of(tick);
  return fmt::format("{:.{}f}e{}", tick / std::pow(10, exponent), exponent - step_exponent, exponent);
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale;
}

double rounded_weight(float weight) { return rounded(static_cast<double>(weight), 5); }

double with_significant_digits(double value, int significant_digits) {
  return read_back(fmt::format("{:.{}g}", value, significant_digits));
}

double as_printed(double value, int64_t decimals) {
  return read_back(fmt::format("{:.{}f}", value, decimals));
}

}  // namespace dragoman::internal
