// The threads of a kernel on the host: they meet as on a GPU, and where a kernel does what a GPU does not define, an
// Error says so. Each crime stands beside the same kernel without it.
#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cuda_kernels.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr const char* this_file = "cuda_fibers_test.cpp:";

// --- what threads compute together ----------------------------------------------------------------

GPU_KERNEL number_threads(int64_t* numbers) {
  const int64_t i = block_index() * block_threads() + thread_index();
  numbers[i] = i + 1000 * block_count() + 100000 * lane() + 10000000 * warp_index();
}

TEST(CudaFibers, EveryThreadRunsOnceAndKnowsItsPlace) {
  for (const int threads : {32, 96, 1024}) {
    constexpr int64_t blocks = 7;
    std::vector<int64_t> numbers(static_cast<size_t>(blocks * threads));
    HostGpuContext context(1);
    launch(context, {"number", blocks, threads}, number_threads, numbers.data());
    for (int64_t i = 0; i < std::ssize(numbers); ++i) {
      const int64_t thread = i % threads;
      EXPECT_EQ(numbers[static_cast<size_t>(i)],
                i + 1000 * blocks + 100000 * (thread % 32) + 10000000 * (thread / 32));
    }
  }
}

GPU_KERNEL sum_block(const float* x, float* sums) {
  const Shared<float> s = shared<float>(16);
  s[thread_index()] = x[block_index() * block_threads() + thread_index()];
  sync_block();
  for (int half = block_threads() / 2; half > 0; half /= 2) {
    if (thread_index() < half) s[thread_index()] += s[thread_index() + half];
    sync_block();
  }
  if (thread_index() == 0) sums[block_index()] = s[0];
}

TEST(CudaFibers, AReductionHasTheSameBitsInEveryOrder) {
  constexpr int64_t blocks = 5;
  constexpr int threads = 128;
  const auto x = random_floats(blocks * threads, 1);
  std::vector<float> wanted(blocks);
  for (size_t b = 0; b < wanted.size(); ++b) {
    std::vector<float> s(x.begin() + static_cast<int64_t>(b) * threads,
                         x.begin() + static_cast<int64_t>(b + 1) * threads);
    for (size_t half = threads / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) s[i] += s[i + half];
    wanted[b] = s[0];
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    on_host::set_thread_order_seed(seed);
    HostGpuContext context(1);
    std::vector<float> sums(blocks);
    launch(context, {"sum", blocks, threads, 16 + threads * sizeof(float)}, sum_block, x.data(), sums.data());
    EXPECT_TRUE(same_bits(sums, wanted)) << "seed " << seed;
  }
}

GPU_KERNEL warp_words(const float* x, float* sum, float* max, float* rotated, float* swapped, int64_t* wide) {
  const int i = thread_index();
  sum[i] = warp_sum(x[i]);
  max[i] = warp_max(x[i]);
  for (int turn = 0; turn < 3; ++turn) rotated[i] = shuffle(turn == 0 ? x[i] : rotated[i], (lane() + 1) % 32);
  swapped[i] = shuffle_xor(x[i], 5);
  wide[i] = shuffle(int64_t{i} << 40, 31 - lane());
}

TEST(CudaFibers, WarpWordsAreTheirDefinitions) {
  constexpr size_t threads = 96;
  const auto x = random_floats(threads, 2);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    on_host::set_thread_order_seed(seed);
    HostGpuContext context(1);
    std::vector<float> sum(threads), max(threads), rotated(threads), swapped(threads);
    std::vector<int64_t> wide(threads);
    launch(context, {"words", 1, threads}, warp_words, x.data(), sum.data(), max.data(), rotated.data(),
           swapped.data(), wide.data());
    std::vector<float> butterfly = x;
    for (size_t mask = 16; mask > 0; mask /= 2) {
      const std::vector<float> before = butterfly;
      for (size_t i = 0; i < threads; ++i) butterfly[i] = before[i] + before[i ^ mask];
    }
    EXPECT_TRUE(same_bits(sum, butterfly)) << "seed " << seed;
    for (size_t i = 0; i < threads; ++i) {
      const size_t warp = i / 32 * 32;
      EXPECT_EQ(max[i], *std::max_element(x.begin() + static_cast<int64_t>(warp),
                                          x.begin() + static_cast<int64_t>(warp) + 32));
      EXPECT_EQ(rotated[i], x[warp + (i + 3) % 32]);
      EXPECT_EQ(swapped[i], x[i ^ 5]);
      EXPECT_EQ(wide[i], static_cast<int64_t>(warp + 31 - i % 32) << 40);
    }
  }
}

GPU_KERNEL maximum(const float* x, float* max) { max[thread_index()] = warp_max(x[thread_index()]); }

TEST(CudaFibers, TheMaximumIgnoresNaNAndKnowsTheSignOfZero) {
  std::vector<float> x(32, -0.0F), max(32);
  HostGpuContext context(1);
  for (const int place : {0, 9, 31}) {
    x.assign(32, -0.0F);
    x[static_cast<size_t>(place)] = 0;
    x[static_cast<size_t>(place + 7) % 32] = NAN;
    launch(context, {"maximum", 1, 32}, maximum, x.data(), max.data());
    for (const float m : max) EXPECT_TRUE(m == 0 && !std::signbit(m));
  }
}

GPU_KERNEL note_order(int* order, int* next, int words) {
  if (words == 1) sync_block();
  if (words == 2) shuffle(0, 0);
  order[(*next)++] = thread_index();
}

TEST(CudaFibers, TheMaximumIsANumberWhereOneIs) {
  std::vector<float> x(32), max(32);
  HostGpuContext context(1);
  for (const size_t odd : {0, 1}) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == odd ? NAN : -1 - static_cast<float>(i);
    launch(context, {"maximum", 1, 32}, maximum, x.data(), max.data());
    for (const float m : max) EXPECT_EQ(m, odd == 0 ? -2 : -1);
  }
}

TEST(CudaFibers, TheOrderOfThreadsIsTheSeeds) {
  constexpr int threads = 64;
  HostGpuContext context(1);
  for (const int words : {0, 1, 2}) {
    const auto order = [&](uint64_t seed) {
      on_host::set_thread_order_seed(seed);
      std::vector<int> ran(threads);
      int next = 0;
      launch(context, {"order", 1, threads}, note_order, ran.data(), &next, words);
      return ran;
    };
    std::set<std::vector<int>> orders;
    std::set<int> first;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::vector<int> threads_run = order(seed);
      EXPECT_EQ(threads_run, order(seed));
      EXPECT_EQ(std::set<int>(threads_run.begin(), threads_run.end()).size(), size_t{threads});
      orders.insert(threads_run);
      first.insert(threads_run.front());
    }
    EXPECT_EQ(orders.size(), 50u);
    EXPECT_GT(first.size(), 20u);
  }
  on_host::set_thread_order_seed(0);
}

GPU_KERNEL note_blocks(int64_t* order, int* next) {
  if (thread_index() == 0) order[(*next)++] = block_index();
}

TEST(CudaFibers, BlocksStartAtARandomOne) {
  HostGpuContext context(1);
  std::set<int64_t> first;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    on_host::set_thread_order_seed(seed);
    std::vector<int64_t> order(10);
    int next = 0;
    launch(context, {"blocks", 10, 32}, note_blocks, order.data(), &next);
    EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 10u);
    first.insert(order.front());
  }
  on_host::set_thread_order_seed(0);
  EXPECT_GT(first.size(), 5u);
}

// --- crimes ---------------------------------------------------------------------------------------

GPU_KERNEL meet_at_barriers(int odd, int* passed) {
  if (thread_index() == odd) {
    sync_block();
  } else {
    sync_block();
  }
  ++*passed;
}

TEST(CudaFibers, ThreadsAtDifferentBarriers) {
  int passed = 0;
  EXPECT_EQ(error_of(64, 0, meet_at_barriers, -1, &passed), "");
  EXPECT_EQ(passed, static_cast<int>(orders) * 2 * 64);
  expect_says(error_of(64, 0, meet_at_barriers, 40, &passed), this_file, "thread 40", "sync_block at",
              "waits in");
}

GPU_KERNEL leave_before_barrier(int leaves) {
  if (thread_index() == leaves) return;
  sync_block();
}

TEST(CudaFibers, AThreadThatFinishesWhileOthersWait) {
  EXPECT_EQ(error_of(32, 0, leave_before_barrier, -1), "");
  expect_says(error_of(32, 0, leave_before_barrier, 7), this_file, "thread 7 has finished", "sync_block at");
}

GPU_KERNEL loop_over_barriers(int odd) {
  for (int i = 0; i < (thread_index() == odd ? 3 : 2); ++i) sync_block();
}

TEST(CudaFibers, ABarrierMoreThanTheOthers) {
  EXPECT_EQ(error_of(64, 0, loop_over_barriers, -1), "");
  expect_says(error_of(64, 0, loop_over_barriers, 63), this_file, "has finished",
              "thread 63 waits in sync_block");
}

GPU_KERNEL shuffle_apart(int odd) {
  if (thread_index() == odd) {
    shuffle(1, 0);
  } else {
    shuffle(2, 0);
  }
}
GPU_KERNEL different_words(int odd) { thread_index() == odd ? warp_sum(1) : warp_max(1); }

TEST(CudaFibers, LanesAtDifferentShuffles) {
  EXPECT_EQ(error_of(64, 0, shuffle_apart, -1), "");
  expect_says(error_of(64, 0, shuffle_apart, 33), this_file, "thread 33", "shuffle at");
  EXPECT_EQ(error_of(64, 0, different_words, -1), "");
  expect_says(error_of(64, 0, different_words, 33), this_file, "thread 33", "warp_sum at", "warp_max at");
}

GPU_KERNEL shuffle_by_some(int lanes) {
  if (lane() < lanes) shuffle_xor(1.0F, 1);
}
GPU_KERNEL shuffle_or_barrier(int shuffling) {
  if (thread_index() < shuffling) shuffle_xor(1.0F, 1);
  sync_block();
}

TEST(CudaFibers, AShuffleThatNotAllLanesTakePartIn) {
  EXPECT_EQ(error_of(64, 0, shuffle_by_some, 32), "");
  EXPECT_EQ(error_of(64, 0, shuffle_by_some, 0), "");
  expect_says(error_of(32, 0, shuffle_by_some, 31), this_file, "shuffle_xor at", "of its warp has finished");
  EXPECT_EQ(error_of(96, 0, shuffle_or_barrier, 96), "");
  EXPECT_EQ(error_of(96, 0, shuffle_or_barrier, 64), "");  // warps may differ
  for (const int shuffling : {1, 33, 40, 63, 95})
    expect_says(error_of(96, 0, shuffle_or_barrier, shuffling), this_file, "shuffle_xor at", "sync_block at");
}

GPU_KERNEL sync_warp_by_some(int lanes) {
  if (lane() < lanes) sync_warp();
}

TEST(CudaFibers, AWarpsBarrierThatSomeLanesMiss) {
  EXPECT_EQ(error_of(32, 0, sync_warp_by_some, 32), "");
  expect_says(error_of(32, 0, sync_warp_by_some, 16), this_file, "sync_warp at", "has finished");
}

GPU_KERNEL shuffle_from(int from) { shuffle(1, from); }
GPU_KERNEL shuffle_across(int mask) { shuffle_xor(1, mask); }

TEST(CudaFibers, ALaneThatIsNotThere) {
  EXPECT_EQ(error_of(32, 0, shuffle_from, 31), "");
  expect_says(error_of(32, 0, shuffle_from, 32), this_file, "lane 32");
  expect_says(error_of(32, 0, shuffle_from, -1), this_file, "lane -1");
  EXPECT_EQ(error_of(32, 0, shuffle_across, 31), "");
  expect_says(error_of(32, 0, shuffle_across, 32), this_file, "shuffle_xor at");
}

GPU_KERNEL nothing() {}

TEST(CudaFibers, SizesThatAGpuDoesNotHave) {
  EXPECT_EQ(error_of(1024, 48 << 10, nothing), "");
  EXPECT_NE(error_of(0, 0, nothing).find("0 threads"), std::string::npos);
  EXPECT_NE(error_of(48, 0, nothing).find("48 threads"), std::string::npos);
  EXPECT_NE(error_of(1056, 0, nothing).find("1056 threads"), std::string::npos);
  EXPECT_NE(error_of(32, (48 << 10) + 1, nothing).find("49153 bytes"), std::string::npos);
  HostGpuContext context(1);
  launch(context, {"none", 0, 32}, nothing);
  EXPECT_THROW(launch(context, {"many", int64_t{1} << 31, 32}, nothing), Error);
}

// --- what follows an error ------------------------------------------------------------------------

GPU_KERNEL throw_at(int thread) {
  sync_block();
  if (thread_index() == thread) throw std::runtime_error("what a kernel throws");
  sync_block();
}

TEST(CudaFibers, WhatAKernelThrowsComesOutOfItsLaunch) {
  HostGpuContext context(1);
  for (int i = 0; i < 256; ++i) {  // were stacks lost each time, there would soon be no more
    EXPECT_THROW(launch(context, {"throws", 3, 256}, throw_at, i), std::runtime_error);
    launch(context, {"throws", 3, 256}, throw_at, -1);
  }
}

TEST(CudaFibers, AfterAnErrorTheNextLaunchIsAsAnyOther) {
  const auto x = random_floats(64, 3);
  HostGpuContext context(1);
  std::vector<float> before(1), after(1);
  launch(context, {"sum", 1, 64, 512}, sum_block, x.data(), before.data());
  EXPECT_THROW(launch(context, {"crime", 1, 64}, leave_before_barrier, 5), Error);
  launch(context, {"sum", 1, 64, 512}, sum_block, x.data(), after.data());
  EXPECT_TRUE(same_bits(before, after));
}

TEST(CudaFibers, ThreadsOfTheHostRunKernelsAtOnce) {
  const auto x = random_floats(1024, 4);
  std::vector<float> sums(40);
  std::vector<std::thread> hosts;
  for (size_t h = 0; h < 4; ++h)
    hosts.emplace_back([&, h] {
      HostGpuContext context(1);
      for (size_t i = 0; i < 10; ++i)
        launch(context, {"sum", 1, 512, 4096}, sum_block, x.data(), &sums[10 * h + i]);
    });
  for (std::thread& host : hosts) host.join();
  for (const float sum : sums) EXPECT_EQ(sum, sums[0]);
}

GPU_KERNEL launch_inside(Context* context) { launch(*context, {"inner", 1, 32}, nothing); }

TEST(CudaFibers, AKernelMayNotLaunchAnother) {
  HostGpuContext context(1);
  EXPECT_THROW(launch(context, {"outer", 1, 32}, launch_inside, &context), BrokenInvariant);
  EXPECT_THROW(sync_block(), BrokenInvariant);
}

}  // namespace
}  // namespace dragoman::internal
