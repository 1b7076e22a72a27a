// Weights in fewer bits: how large they are, and how they are made from floats. What they look like: NarrowMatrix.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernels.h"
#include "kernels/narrow_layout.h"

namespace dragoman {

// To the nearest bf16, and to the even one of two; what is not a number stays none.
uint16_t to_bf16(float x);

// Bytes of NarrowMatrix::data for this many inner indices and columns: a multiple of 64.
int64_t narrow_size(Precision precision, int64_t rows, int64_t columns);

// Rounds b to what `data` and `scales` (where int8: a float for each column) then hold. Memory of the sizes above.
NarrowMatrix narrow(Context&, Precision precision, ConstMatrix b, unsigned char* data, float* scales);

// Some of b's columns, as they are there. Memory as above.
NarrowMatrix narrow_columns(const NarrowMatrix& b, std::span<const int32_t> columns, unsigned char* data,
                            float* scales);

}  // namespace dragoman
