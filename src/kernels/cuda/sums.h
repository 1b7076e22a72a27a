// Kernels for sums over processes: what a process does with the numbers that it sends and receives. They run beside
// those of the table, on a stream of their own.
#pragma once

#include "kernels/context.h"

namespace dragoman::internal {

struct SumKernels {
  void (*round)(Context&, int64_t count, const float* from, uint16_t* to);
  void (*widen)(Context&, int64_t count, const uint16_t* from, float* to);
  // sum[i] = parts[i] + parts[stride + i] + ..., added in this order, for `count` elements of `parts_count` parts.
  void (*add)(Context&, int64_t parts_count, int64_t stride, int64_t count, const float* parts, float* sum);
  // The same in bf16, where sums are floats that are rounded at the end.
  void (*add_in_bf16)(Context&, int64_t parts_count, int64_t stride, int64_t count, const uint16_t* parts,
                      uint16_t* sum);
};

const SumKernels& cuda_sum_kernels();

}  // namespace dragoman::internal
