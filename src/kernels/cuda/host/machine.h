// What runs a GPU's kernels on the host, for tests. Every thread of a block is a fiber; blocks run one after another.
// Between any two barriers the threads run in a new random order, and so do the lanes of a warp after a shuffle: a
// missing barrier changes results. Whatever a kernel may not do is an Error that run() throws, with the place where it
// was found; then the block's threads are abandoned, and the next launch starts afresh.
//
// Several threads of the host may run kernels at once: each has fibers of its own, and keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/cuda/host/launch.h"

namespace dragoman::internal::on_host {

// The kernel's thread that runs in this thread of the host.
struct RunningThread {
  int64_t block, blocks;
  int thread, threads;
};
extern constinit thread_local RunningThread running;

// Throws what the body throws, and Error.
void run(const Launch&);

// Where launches go instead of being run at once: to a stream of a GPU that tests make up. Null: they are run.
using PutOnStream = void (*)(void* stream, std::function<void()> launch);
extern constinit PutOnStream put_on_stream;

// What the order of the threads is drawn from: at first DRAGOMAN_THREAD_ORDER, or 0. The same seed gives a launch the
// same order, whatever was launched before.
void set_thread_order_seed(uint64_t seed);

// What a thread may call, each as the vocabulary's word of this name. All throw Error.
void sync_block(Place);
void sync_warp(Place);
uint64_t shuffle(uint64_t x, int from, Place);
uint64_t shuffle_xor(uint64_t x, int mask, Place);
float warp_sum(float x, Place);
float warp_max(float x, Place);

// What a lane brings to the tensor cores, as the vocabulary says.
struct ProductPart {
  float* sums;
  const uint32_t* a;
  uint32_t b[2];
};
void add_product(const ProductPart&, Place);

// Where these bytes of shared memory are, after a check that the thread may read or write them: they are in what the
// launch asked for, they have been written in this block, and no other thread touches them before the next barrier.
// Both numbers are multiples of 4.
const void* read_shared(int64_t offset, int64_t bytes, Place);
void* write_shared(int64_t offset, int64_t bytes, Place);
void check_alignment(size_t offset, size_t element_bytes, Place);
// Of the GPU's memory.
void check_address(const void* address, size_t bytes, Place);

}  // namespace dragoman::internal::on_host
