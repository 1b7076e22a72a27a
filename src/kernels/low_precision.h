// Weights in low precision: their sizes, and how the host makes them from floats. LowPrecisionMatrix describes the
// layout.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace dragoman::internal {

// To the nearest bf16, ties to even; NaN stays NaN.
uint16_t to_bf16(float x);

// Bytes of LowPrecisionMatrix::data for this many inner indices and columns: a multiple of 64.
int64_t low_precision_size(Precision precision, int64_t rows, int64_t columns);

// Rounds b into `data` and `scales` (for int8: a float for each column), which have the sizes above. `known_scales`:
// those of columns that were rounded before, so that they get the same integers again; 0 for the others.
LowPrecisionMatrix to_low_precision(CpuContext&, Precision precision, ConstMatrix b, unsigned char* data,
                                    float* scales, const float* known_scales = nullptr);

// b's values as they are in int8, as floats. `out` has the layout of b, and may be b itself.
void round_to_int8(CpuContext&, ConstMatrix b, float* out);

}  // namespace dragoman::internal
