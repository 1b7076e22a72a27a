// Learning rates, and the rate of a moving average, as functions of the update, counted from 1.
#pragma once

#include <cstdint>

namespace dragoman::internal {

//   noam          the paper's, section 5.3: factor · d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)
//   inverse_sqrt  linear warm-up to learning_rate, then proportional to 1/√step
//   cosine        linear warm-up to learning_rate, then half a cosine down to 0 at max_steps
//   constant      learning_rate
enum class Schedule { noam, inverse_sqrt, cosine, constant };

struct RateOptions {
  Schedule schedule = Schedule::noam;
  double factor = 2;
  double learning_rate = 1e-3;
  int64_t warmup = 4000;
  int64_t max_steps = 0;
  int64_t d_model = 512;
};

double learning_rate(const RateOptions& options, int64_t step);

// What a schedule's rate is multiplied by where a run of which `done`, 0 to 1, is done cools down over the last `share`
// of it: 1 until then, and from there on a line to 0.
double cooldown(double share, double done);

double noam_rate(int64_t step, int64_t d_model, double factor, int64_t warmup);

// The weight of the newest values in the moving average: 1 − decay, but more at first, so that the initial weights are
// soon forgotten.
double averaging_rate(double decay, int64_t step);

}  // namespace dragoman::internal
