// Shared memory on the host: what two threads may not do to one word between two barriers is found in every order of
// the threads, and what they may do is not.
#include <vector>

#include "kernels/cuda_kernels.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr const char* this_source = "cuda_shared_memory_test.cpp:";

// What one thread does, and another after it, if no barrier, one of a warp, a shuffle or one of the block lies between.
enum class Between { nothing, shuffle, warp, block };

GPU_FUNCTION void separate(Between between) {
  if (between == Between::shuffle) shuffle(1, 0), warp_sum(1), warp_max(1);
  if (between == Between::warp) sync_warp();
  if (between == Between::block) sync_block();
}

GPU_KERNEL write_read(int writer, int reader, Between between, float* out) {
  const Shared<float> s = shared<float>(0);
  if (thread_index() == writer) s[3] = 1;
  sync_block();
  if (thread_index() == writer) s[3] = 2;
  separate(between);
  if (thread_index() == reader) *out = s[3];
}

GPU_KERNEL read_write(int reader, int writer, Between between, float* out) {
  const Shared<float> s = shared<float>(0);
  if (thread_index() == writer) s[3] = 2;
  sync_block();
  if (thread_index() == reader) *out = s[3];
  separate(between);
  if (thread_index() == writer) s[3] = 4;
}

GPU_KERNEL write_write(int one, int other, Between between, float*) {
  const Shared<float> s = shared<float>(0);
  if (thread_index() == one) s[3] = 2;
  separate(between);
  if (thread_index() == other) s[3] = 4;
}

struct Race {
  void (*kernel)(int, int, Between, float*);
  const char* says;
};
const Race races[] = {{write_read, "byte 12"}, {read_write, "byte 12"}, {write_write, "byte 12"}};

TEST(CudaSharedMemory, TheBlocksBarrierSeparatesAllThreads) {
  float out = 0;
  for (const Race& race : races) {
    EXPECT_EQ(error_of(96, 16, race.kernel, 1, 2, Between::block, &out), "");
    EXPECT_EQ(error_of(96, 16, race.kernel, 1, 70, Between::block, &out), "");
    expect_says(error_of(96, 16, race.kernel, 70, 1, Between::nothing, &out), this_source, race.says,
                "thread 70", "thread 1");
    expect_says(error_of(96, 16, race.kernel, 1, 2, Between::nothing, &out), this_source, race.says,
                "thread 1", "thread 2");
    EXPECT_EQ(error_of(96, 16, race.kernel, 2, 2, Between::nothing, &out),
              "");  // one thread's order is the source's
  }
}

TEST(CudaSharedMemory, AWarpsBarrierSeparatesItsLanes) {
  float out = 0;
  for (const Race& race : races) {
    EXPECT_EQ(error_of(96, 16, race.kernel, 33, 40, Between::warp, &out), "");
    expect_says(error_of(96, 16, race.kernel, 33, 70, Between::warp, &out), this_source, race.says,
                "thread 70");
  }
}

TEST(CudaSharedMemory, AShuffleSeparatesNothing) {
  float out = 0;
  for (const Race& race : races)
    expect_says(error_of(96, 16, race.kernel, 33, 40, Between::shuffle, &out), this_source, race.says,
                "thread 40");
}

// One that writes where lanes of this and of other warps have read.
GPU_KERNEL many_readers(int first, int last, int writer, bool barrier, float* out) {
  const Shared<float> s = shared<float>(0);
  if (thread_index() == writer) s[0] = 1;
  sync_block();
  if (thread_index() >= first && thread_index() < last) out[thread_index()] = s[0];
  sync_warp();
  if (thread_index() == first) out[first] = s[0];
  if (barrier) sync_block();
  if (thread_index() == writer) s[0] = 2;
}

TEST(CudaSharedMemory, AWriteAfterSeveralReaders) {
  std::vector<float> out(128);
  EXPECT_EQ(error_of(128, 4, many_readers, 0, 128, 77, true, out.data()), "");
  EXPECT_NE(error_of(128, 4, many_readers, 0, 128, 77, false, out.data()), "");
  EXPECT_NE(error_of(128, 4, many_readers, 0, 32, 77, false, out.data()), "");
  EXPECT_NE(error_of(128, 4, many_readers, 32, 64, 63, false, out.data()),
            "");  // the second time the first lane reads
  EXPECT_EQ(error_of(128, 4, many_readers, 63, 64, 63, false, out.data()), "");
}

GPU_KERNEL forget_barrier(bool forget, float* out) {
  const Shared<float> s = shared<float>(0);
  s[thread_index()] = static_cast<float>(thread_index());
  if (!forget) sync_block();
  out[thread_index()] = s[block_threads() - 1 - thread_index()];
}

// Two that read, of which one writes.
GPU_KERNEL two_readers(int one, int other, Between between, float* out) {
  const Shared<float> s = shared<float>(0);
  if (thread_index() == one) s[0] = 1;
  sync_block();
  if (thread_index() == one || thread_index() == other) out[thread_index()] = s[0];
  separate(between);
  if (thread_index() == one) s[0] = 2;
}

TEST(CudaSharedMemory, AReaderThatWritesBeforeAnother) {
  std::vector<float> out(128);
  EXPECT_EQ(error_of(128, 4, two_readers, 33, 40, Between::block, out.data()), "");
  EXPECT_EQ(error_of(128, 4, two_readers, 33, 40, Between::warp, out.data()), "");
  EXPECT_NE(error_of(128, 4, two_readers, 33, 40, Between::shuffle, out.data()), "");
  EXPECT_EQ(error_of(128, 4, two_readers, 33, 70, Between::block, out.data()), "");
  EXPECT_NE(error_of(128, 4, two_readers, 33, 70, Between::warp, out.data()), "");
  EXPECT_NE(error_of(128, 4, two_readers, 33, 70, Between::shuffle, out.data()), "");
}

TEST(CudaSharedMemory, AMissingBarrierIsFound) {
  std::vector<float> out(64);
  EXPECT_EQ(error_of(64, 256, forget_barrier, false, out.data()), "");
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], static_cast<float>(63 - i));
  EXPECT_NE(error_of(64, 256, forget_barrier, true, out.data()), "");
}

GPU_KERNEL read_unwritten(int64_t word, float* out) {
  const Shared<float> s = shared<float>(0);
  if (block_index() == 0 || thread_index() > 0) s[thread_index()] = 0;
  sync_block();
  if (thread_index() == 0 && block_index() == 1) *out = s[word];
}

TEST(CudaSharedMemory, WhatNothingWasWrittenTo) {
  float out = 0;
  EXPECT_EQ(error_of(32, 256, read_unwritten, 1, &out), "");
  expect_says(error_of(32, 256, read_unwritten, 32, &out), this_source, "thread 0 reads", "byte 128",
              "nothing was written");
  // What another block wrote is gone.
  expect_says(error_of(32, 256, read_unwritten, 0, &out), this_source, "block 1", "nothing was written");
}

GPU_KERNEL touch(int64_t index, size_t from) {
  const Shared<double> s = shared<double>(from) + 1;
  if (thread_index() == 0) s[index - 1] = 1;
}

TEST(CudaSharedMemory, WhatTheLaunchDidNotAskFor) {
  EXPECT_EQ(error_of(32, 64, touch, 7, size_t{0}), "");
  EXPECT_EQ(error_of(32, 64, touch, 0, size_t{56}), "");
  EXPECT_EQ(error_of(32, 64, touch, -1, size_t{8}), "");
  expect_says(error_of(32, 64, touch, 8, size_t{0}), this_source, "bytes 64 to 71 of 64");
  expect_says(error_of(32, 63, touch, 7, size_t{0}), this_source, "of 63");
  expect_says(error_of(32, 64, touch, -1, size_t{0}), this_source, "thread 0 touches bytes -8");
  expect_says(error_of(32, 64, touch, 0, size_t{4}), this_source, "elements of 8 bytes");
}

GPU_KERNEL assign(int* out) {
  const Shared<int> s = shared<int>(0);
  const int i = 4 * thread_index();
  s[i] = 5;
  s[i + 1] = s[i];
  s[i + 1] += 7;
  s[i + 1] *= 3;
  s[i] -= s[i + 1];
  s[i] /= 2;
  s[i + 2] = s[i] < 0 ? s[i + 1] : 0;
  s[i + 2] |= 64;
  s[i + 2] &= 96;
  s[i + 2] ^= 1;
  out[thread_index()] = s[i] * 1000 + s[i + 2];
}

TEST(CudaSharedMemory, ElementsAreAssignedAsAnyOther) {
  std::vector<int> out(32);
  EXPECT_EQ(error_of(32, 512, assign, out.data()), "");
  for (const int x : out) EXPECT_EQ(x, -15 * 1000 + (((36 | 64) & 96) ^ 1));
}

}  // namespace
}  // namespace dragoman::internal
