// Low-precision products for processors that have instructions for them, beyond those that a whole table is compiled
// for. The object file exports only the small table at the end; kernels.cpp puts it into a copy of the large one.
#include "kernels/cpu/low_precision.inl.h"
#include "kernels/cpu/product_kernels.inl.h"
#include "kernels/cpu/table_name.h"

namespace dragoman::internal {

extern const LowPrecisionKernels DRAGOMAN_TABLE_NAME;

const LowPrecisionKernels DRAGOMAN_TABLE_NAME = {.int8 = int8_product,
                                                 .bf16 = low_precision_product<Bf16>,
                                                 .rounded = product_kernels<RoundedFloats>,
                                                 .round = nullptr,
                                                 .attends_in_bf16 = nullptr,
                                                 .rounded_is_fast = has_bf16_instructions};

}  // namespace dragoman::internal
