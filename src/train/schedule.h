// Learning rates.
#pragma once

#include <cstdint>

namespace dragoman {

// The paper's, section 5.3: factor · d_model^−0.5 · min(step^−0.5, step · warmup^−1.5); steps count from 1.
double noam_rate(int64_t step, int64_t d_model, double factor, int64_t warmup);

}  // namespace dragoman
