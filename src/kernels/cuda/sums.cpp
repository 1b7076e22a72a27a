// The kernels of kernels/cuda/sums.h. They are compiled as those of table.cpp, and by themselves.
#include "kernels/cuda/sums.h"

#include "kernels/cuda/functions.inl.h"

namespace dragoman::internal {
namespace {

constexpr int sum_threads = 256;

Grid grid_of(const char* name, int64_t count) {
  return {name, (count + sum_threads - 1) / sum_threads, sum_threads};
}

GPU_FUNCTION int64_t element_index() { return block_index() * block_threads() + thread_index(); }

GPU_FUNCTION float as_float(float x) { return x; }
GPU_FUNCTION float as_float(Bf16 x) { return widened(x); }
GPU_FUNCTION void store(float x, float* to) { *to = x; }
GPU_FUNCTION void store(float x, Bf16* to) { *to = rounded_to_bf16(x); }

template <class From, class To>
GPU_KERNEL convert_kernel(int64_t count, const From* from, To* to) {
  const int64_t i = element_index();
  if (i < count) store(as_float(from[i]), to + i);
}

template <class From, class To>
void convert(Context& context, int64_t count, const From* from, To* to) {
  launch(context, grid_of("convert gradients", count), convert_kernel<From, To>, count, from, to);
}

template <class T>
GPU_KERNEL add_parts_kernel(int64_t parts_count, int64_t stride, int64_t count, const T* parts, T* sum) {
  const int64_t i = element_index();
  if (i >= count) return;
  float total = as_float(parts[i]);
  for (int64_t part = 1; part < parts_count; ++part) total += as_float(parts[part * stride + i]);
  store(total, sum + i);
}

template <class T>
void add_parts(Context& context, int64_t parts_count, int64_t stride, int64_t count, const T* parts, T* sum) {
  launch(context, grid_of("add gradients", count), add_parts_kernel<T>, parts_count, stride, count, parts,
         sum);
}

}  // namespace

const SumKernels& cuda_sum_kernels() {
  static constexpr SumKernels kernels = {.round = convert<float, Bf16>,
                                         .widen = convert<Bf16, float>,
                                         .add = add_parts<float>,
                                         .add_in_bf16 = add_parts<Bf16>};
  return kernels;
}

}  // namespace dragoman::internal
