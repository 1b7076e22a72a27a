// Weights in low precision: their sizes, and how they are made from floats. LowPrecisionMatrix describes the layout.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernels.h"
#include "kernels/low_precision_layout.h"

namespace dragoman {

// To the nearest bf16, and to the even one of two; what is not a number stays none.
uint16_t to_bf16(float x);

// Bytes of LowPrecisionMatrix::data for this many inner indices and columns: a multiple of 64.
int64_t low_precision_size(Precision precision, int64_t rows, int64_t columns);

// Rounds b to what `data` and `scales` (where int8: a float for each column) then hold. Memory of the sizes above.
LowPrecisionMatrix to_low_precision(Context&, Precision precision, ConstMatrix b, unsigned char* data,
                                    float* scales);

// Some of b's columns, as they are there. Memory as above.
LowPrecisionMatrix low_precision_columns(const LowPrecisionMatrix& b, std::span<const int32_t> columns,
                                         unsigned char* data, float* scales);

}  // namespace dragoman
