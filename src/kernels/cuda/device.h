// The vocabulary of the GPU's kernels. A kernel uses these words and the functions of <math.h>, nothing else of CUDA,
// so that one source is compiled twice: by nvcc for a GPU, and by the host's compiler for tests, where every thread is
// a fiber and each word checks how it is used (host/fibers.h).
//
//   GPU_KERNEL, GPU_FUNCTION       what a GPU runs: started by launch(), called by a kernel
//   GPU_OR_HOST_FUNCTION           the same, where the host calls it, too
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
//   sync_block()                   waits for all threads of the block; what they wrote before can be read after
//   sync_warp()                    the same for the warp
//   shuffle(x, from)               x of the lane `from`. All lanes of a warp call it together; so for the next three.
//   shuffle_xor(x, mask)           x of the lane whose number differs in these bits
//   warp_sum(x), warp_max(x)       over all lanes, the same in each: x of lanes 16 apart first, then 8, 4, 2, 1
//
//   is_multiple_of(p, bytes)       whether a place in the GPU's memory is: what follows reads and writes multiples of
//                                  its own size
//   load_four(p), store_four(x, p) four floats, or four numbers in bf16, at once: 16 bytes, or 8
//   load_words(p), store_words(x, p)           eight numbers in bf16 at once, as four words: 16 bytes
//   load_words_if(there, p)        the same, of memory that the kernel does not write; zeros if they are not there
//
//   bf16_pair(low, high)           two floats rounded to bf16, in the halves of a word
//   low_half(x), high_half(x)      the numbers in bf16 in the halves of a word, as floats
//   low_halves(a, b), high_halves(a, b)        a word of the two words' low halves, or of their high ones
//   power_of_2(x)                  2^x, to some 22 bits; 0 below 2^-126
//   add_product(sums, a, b0, b1)   by the tensor cores: sums += a·b, 16 × 8 floats, of 16 × 16 and 16 × 8 numbers in
//                                  bf16. All lanes of a warp call it together; so for the next. With g = lane() / 4
//                                  and t = lane() % 4, a lane has
//                                    of the sums, columns 2t and 2t + 1: of row g, then of row g + 8;
//                                    of a, columns 2t and 2t + 1 of rows g and g + 8, then the same 8 columns on;
//                                    of b, rows 2t and 2t + 1 of column g, then the same 8 rows on.
//   transpose(x)                   of 8 × 8 numbers in bf16, where a lane has columns 2t and 2t + 1 of row g
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

struct alignas(16) FourWords {
  uint32_t x[4];
};

#if defined(__CUDACC__)

#define GPU_KERNEL static __global__ void
#define GPU_KERNEL_OF(threads, blocks) static __global__ void __launch_bounds__(threads, blocks)
#define GPU_FUNCTION static __device__ __forceinline__
#define GPU_OR_HOST_FUNCTION static __host__ __device__ __forceinline__

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

GPU_FUNCTION FourWords load_words(const uint16_t* from) {
  const uint4 read = *reinterpret_cast<const uint4*>(from);
  return {{read.x, read.y, read.z, read.w}};
}
GPU_FUNCTION void store_words(const FourWords& words, uint16_t* to) {
  *reinterpret_cast<uint4*>(to) = make_uint4(words.x[0], words.x[1], words.x[2], words.x[3]);
}
GPU_FUNCTION FourWords load_words_if(bool there, const uint16_t* from) {
  FourWords read = {{0, 0, 0, 0}};
  asm("{ .reg .pred there; setp.ne.b32 there, %5, 0;\n"
      "  @there ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4]; }"
      : "+r"(read.x[0]), "+r"(read.x[1]), "+r"(read.x[2]), "+r"(read.x[3])
      : "l"(from), "r"(static_cast<int>(there)));
  return read;
}
GPU_FUNCTION float power_of_2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
GPU_FUNCTION uint32_t bf16_pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
GPU_FUNCTION uint32_t low_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x5410); }
GPU_FUNCTION uint32_t high_halves(uint32_t a, uint32_t b) { return __byte_perm(a, b, 0x7632); }
GPU_FUNCTION void add_product(float (&sums)[4], const FourWords& a, uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b0), "r"(b1));
}
GPU_FUNCTION uint32_t transpose(uint32_t x) {
  uint32_t turned;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(x));
  return turned;
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

GPU_OR_HOST_FUNCTION bool is_multiple_of(const void* p, size_t bytes) {
  return reinterpret_cast<uintptr_t>(p) % bytes == 0;
}

GPU_FUNCTION float low_half(uint32_t x) {
  union {
    uint32_t bits;
    float number;
  } both = {x << 16};
  return both.number;
}
GPU_FUNCTION float high_half(uint32_t x) {
  union {
    uint32_t bits;
    float number;
  } both = {x & 0xffff0000u};
  return both.number;
}

}  // namespace
}  // namespace dragoman::internal
