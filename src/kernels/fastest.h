// Kernels that compute the same bits, chosen by measurement.
#pragma once

#include "kernels/kernels.h"

namespace dragoman::internal {

// Whether the first kind of products is faster here than the second: times the same product with both, alternating,
// on one thread.
bool is_faster(const ProductKernels& one, const ProductKernels& other);

// The table to train with in bf16: this one, or, on processors whose instructions for bf16 are slower than those for
// floats, a copy that multiplies rounded floats instead. Measured once, in about 30 ms.
const Kernels& fastest_in_bf16(const Kernels& kernels);

}  // namespace dragoman::internal
