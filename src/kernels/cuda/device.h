// The vocabulary of the GPU's kernels. A kernel uses these words and the functions of <math.h>, nothing else of CUDA,
// so that one source is compiled twice: by nvcc for a GPU, and by the host's compiler for tests, where every thread is
// a fiber and each word checks how it is used (host/fibers.h).
//
//   GPU_KERNEL, GPU_FUNCTION       what a GPU runs: started by launch(), called by a kernel
//   GPU_KERNEL_OF(threads, blocks) a kernel of at most so many threads a block, with so few registers that this many
//                                  blocks run on a processor at once
//   launch(context, grid, k, ...)  runs kernel k(...) with grid.threads threads in each of grid.blocks blocks. Kernels
//                                  run one after another, in the order of their launches.
//
//   block_index(), block_count()       of this block, and of the grid
//   thread_index(), block_threads()    of this thread, and of its block: a multiple of 32
//   warp_index(), block_warps()        of this thread's warp, which is 32 threads side by side
//   lane()                             of this thread in its warp
//
//   shared<T>(bytes)               the block's shared memory, from this byte on: s[i] is read and assigned. Its content
//                                  is unspecified at first.
//   four(s, i)                     the floats s[i] to s[i + 3] at once, whose place is a multiple of 16 bytes
//   load_four(p), store_four(x, p) four floats, or four bf16, of the GPU's memory at once, whose place is a multiple of
//                                  their size: 16 bytes, or 8
//   is_multiple_of(p, bytes)       whether a place is
//   sync_block()                   waits for all threads of the block; what they wrote before can be read after
//   sync_warp()                    the same for the warp
//   shuffle(x, from)               x of the lane `from`. All lanes of a warp call it together; so for the next three.
//   shuffle_xor(x, mask)           x of the lane whose number differs in these bits
//   warp_sum(x), warp_max(x)       over all lanes, the same in each: x of lanes 16 apart first, then 8, 4, 2, 1
//
// Threads of different blocks may not depend on one another. There are no atomic operations: what several threads
// compute is combined in an order that does not change.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cuda/context.h"

namespace dragoman::internal {
namespace {

// How a kernel is started. `name` is how errors call it.
struct Grid {
  const char* name;
  int64_t blocks;
  int threads;
  size_t shared_bytes = 0;
};

constexpr int warp_size = 32;

struct Four {
  float x[4];
};
struct FourBf16 {
  uint32_t pairs[2];  // the lower half is the first of a pair
};

#if defined(__CUDACC__)

#define GPU_KERNEL static __global__ void
#define GPU_KERNEL_OF(threads, blocks) static __global__ void __launch_bounds__(threads, blocks)
#define GPU_FUNCTION static __device__ __forceinline__

GPU_FUNCTION int64_t block_index() { return blockIdx.x; }
GPU_FUNCTION int64_t block_count() { return gridDim.x; }
GPU_FUNCTION int thread_index() { return static_cast<int>(threadIdx.x); }
GPU_FUNCTION int block_threads() { return static_cast<int>(blockDim.x); }

template <class T>
GPU_FUNCTION T* shared(size_t bytes) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  return reinterpret_cast<T*>(shared_memory + bytes);
}
template <class T>
using Shared = T*;

GPU_FUNCTION Four four(const float* s, int i) {
  const float4 read = *reinterpret_cast<const float4*>(s + i);
  return {{read.x, read.y, read.z, read.w}};
}

GPU_FUNCTION Four load_four(const float* from) { return four(from, 0); }
GPU_FUNCTION FourBf16 load_four(const uint16_t* from) {
  const uint2 read = *reinterpret_cast<const uint2*>(from);
  return {{read.x, read.y}};
}
// Instructions by name: an assignment of four numbers may become four instructions.
GPU_FUNCTION void store_four(const Four& x, float* to) {
  asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(to)), "f"(x.x[0]), "f"(x.x[1]), "f"(x.x[2]), "f"(x.x[3])
               : "memory");
}
GPU_FUNCTION void store_four(const FourBf16& x, uint16_t* to) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(x.pairs[0]), "r"(x.pairs[1])
               : "memory");
}

GPU_FUNCTION void sync_block() { __syncthreads(); }
GPU_FUNCTION void sync_warp() { __syncwarp(); }

template <class T>
GPU_FUNCTION T shuffle(T x, int from) {
  return __shfl_sync(0xffffffffu, x, from);
}
template <class T>
GPU_FUNCTION T shuffle_xor(T x, int mask) {
  return __shfl_xor_sync(0xffffffffu, x, mask);
}
GPU_FUNCTION float warp_sum(float x) {
#pragma unroll
  for (int mask = warp_size / 2; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
  return x;
}
GPU_FUNCTION float warp_max(float x) {
#pragma unroll
  for (int mask = warp_size / 2; mask > 0; mask /= 2) x = fmaxf(x, shuffle_xor(x, mask));
  return x;
}

template <class... Parameters, class... Arguments>
void launch(Context& context, const Grid& grid, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  if (grid.blocks <= 0) return;
  kernel<<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads), grid.shared_bytes,
           static_cast<cudaStream_t>(gpu(context).stream())>>>(arguments...);
  gpu(context).launched(grid.name);
}

#endif

}  // namespace
}  // namespace dragoman::internal

#if !defined(__CUDACC__)
#include "kernels/cuda/host/fibers.h"
#endif

namespace dragoman::internal {
namespace {

GPU_FUNCTION int lane() { return thread_index() % warp_size; }
GPU_FUNCTION int warp_index() { return thread_index() / warp_size; }
GPU_FUNCTION int block_warps() { return block_threads() / warp_size; }

GPU_FUNCTION bool is_multiple_of(const void* p, size_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

}  // namespace
}  // namespace dragoman::internal
