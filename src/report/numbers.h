// Numbers as people read them: round axes with their labels, and numbers shortened for JSON.
//
// web/numbers.js defines the same axes and labels for interactive charts. Both are held to
// tests/report/axis_cases.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman::internal {

// An axis in round steps (1, 2 or 5 times a power of ten), from a tick at or below the minimum to one at or above
// the maximum.
struct Axis {
  double min, max, step;
};
Axis round_axis(double min, double max, int ticks_at_most);
std::vector<double> ticks(const Axis&);
std::string tick_label(const Axis&,
                       double tick);  // 20,000, 0.002 or 1.5e-6: as many digits as the step needs

double rounded(double value, int decimals);
double rounded_weight(float weight);  // of attention, in JSON: five decimals are enough
double with_significant_digits(double value, int significant_digits);
double as_printed(double value, int64_t decimals);

}  // namespace dragoman::internal
