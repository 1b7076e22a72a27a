// Kernels that compute the same bits, chosen by measurement.
#pragma once

#include "kernels/kernels.h"

namespace dragoman::internal {

// Whether the first kind of products takes less time here than the second: the same product by both, a few times in
// turn, on one thread.
bool is_faster(const ProductKernels& one, const ProductKernels& other);

// The table to train with in bf16: this one, or, on processors whose instructions for bf16 are slower than those for
// floats, a copy that multiplies rounded floats instead. Measured once, in about 30 ms.
const Kernels& fastest_in_bf16(const Kernels& kernels);

}  // namespace dragoman::internal
