#include "train/schedule.h"

#include <algorithm>
#include <cmath>

namespace dragoman::internal {

double noam_rate(int64_t step, int64_t d_model, double factor, int64_t warmup) {
  const double s = static_cast<double>(step), w = static_cast<double>(std::max<int64_t>(warmup, 1));
  return factor / std::sqrt(static_cast<double>(d_model)) *
         std::min(1 / std::sqrt(s), s / (w * std::sqrt(w)));
}

double learning_rate(const RateOptions& options, int64_t step) {
  const double s = static_cast<double>(step), w = static_cast<double>(std::max<int64_t>(options.warmup, 1));
  const double rising = std::min(1.0, s / w);
  switch (options.schedule) {
    case Schedule::noam:
      return noam_rate(step, options.d_model, options.factor, options.warmup);
    case Schedule::inverse_sqrt:
      return options.learning_rate * std::min(rising, std::sqrt(w / s));
    case Schedule::cosine: {
      if (s < w) return options.learning_rate * rising;
      const double rest = std::max(static_cast<double>(options.max_steps) - w, 1.0);
      return options.learning_rate * 0.5 * (1 + std::cos(M_PI * std::min(1.0, (s - w) / rest)));
    }
    case Schedule::constant:
      break;
  }
  return options.learning_rate;
}

double cooldown(double share, double done) {
  return share > 0 ? std::clamp((1 - done) / share, 0.0, 1.0) : 1;
}

double averaging_rate(double decay, int64_t step) {
  return std::max(1 - decay, 9 / (10 + static_cast<double>(step)));
}

}  // namespace dragoman::internal
