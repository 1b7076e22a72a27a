#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

double noam_rate(int64_t step, int64_t d_model, double factor, int64_t warmup) {
  const double s = static_cast<double>(step), w = static_cast<double>(std::max<int64_t>(warmup, 1));
  return factor / std::sqrt(static_cast<double>(d_model)) * std::min(1 / std::sqrt(s), s / (w * std::sqrt(w)));
}

}  // namespace dragoman
