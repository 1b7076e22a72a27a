// Round numbers along an axis.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/status_line.h"
#include "report/plot.h"

namespace dragoman {

Axis round_axis(double least, double most, int ticks_at_most) {
  CHECK(least <= most && ticks_at_most >= 2, "an axis from {} to {} with {} ticks", least, most,
        ticks_at_most);
  if (least == most) most = least + 1;
  double power = std::pow(10, std::floor(std::log10((most - least) / ticks_at_most)));
  constexpr double a_little = 1e-6;  // of a step, lest rounding add a tick
  for (;; power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * power, first = std::floor(least / step + a_little),
                   last = std::ceil(most / step - a_little);
      if (last - first < ticks_at_most) return {first * step, last * step, step};
    }
  }
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> result;
  const auto count = std::lround((axis.most - axis.least) / axis.step);
  const auto first = std::lround(axis.least / axis.step);
  for (long i = 0; i <= count; ++i) result.push_back(static_cast<double>(first + i) * axis.step);
  return result;
}

std::string tick_label(const Axis& axis, double tick) {
  if (std::abs(tick) < axis.step / 2) return "0";
  if (axis.step >= 1) return with_commas(std::lround(tick));
  const int decimals = static_cast<int>(-std::floor(std::log10(axis.step) + 1e-9));
  return fmt::format("{:.{}f}", tick, decimals);
}

}  // namespace dragoman
