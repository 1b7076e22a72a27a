// Sums over processes by the twin of NCCL's (twins/nccl.cpp). The processes are all in this one, which one thread runs:
// while one of them waits, the others' streams go on.
#include "kernels/cuda/gpu/sums.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "gpu/fake_gpu.h"
#include "kernels/nearest_bf16.h"

namespace dragoman::internal {
namespace {

using Values = std::vector<float>;

class CudaSumsTest : public testing::Test {
 protected:
  CudaSumsTest() {
    setenv("DRAGOMAN_NCCL", DRAGOMAN_NCCL_TWIN, 1);
    report_failures();
    reset_fake_gpu();
  }
  ~CudaSumsTest() override {
    processes_.clear();
    reset_fake_gpu();
  }

  void open(int count) {
    processes_.clear();
    processes_.resize(static_cast<size_t>(count));
    group_ = {new_nccl_id(), 0, count, [](void* test) { static_cast<CudaSumsTest*>(test)->pause(); }, this};
    open_next();
  }

  void start(std::vector<Values>& values, bool in_bf16) {
    for (size_t i = 0; i < processes_.size(); ++i)
      processes_[i]->start(values[i].data(), static_cast<int64_t>(values[i].size()), in_bf16);
  }
  void finish() {
    for (const auto& process : processes_) process->finish();
  }

  std::vector<std::unique_ptr<CudaSums>> processes_;
  bool lost_ = false;  // a process, which the others notice

 private:
  void open_next() {
    const auto number = static_cast<size_t>(group_.number++);
    DeviceSumsGroup group = group_;
    group.number = static_cast<int>(number);
    processes_[number] = std::make_unique<CudaSums>(Gpu::of(0), group);
  }

  void pause() {
    if (lost_) throw Error("a process was lost");
    if (group_.number < group_.count) return open_next();
    let_time_pass();
  }

  DeviceSumsGroup group_ = {};
};

float nearest(float x) { return float_of_bf16(nearest_bf16(x)); }

Values random_values(int64_t count, uint64_t seed) {
  Random random(seed);
  Values values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(random.uniform(-1, 1));
  return values;
}

// In the order of the processes.
Values sum_of(const std::vector<Values>& all, bool in_bf16) {
  Values sum = all[0];
  for (size_t i = 0; i < sum.size(); ++i) {
    if (in_bf16) sum[i] = nearest(sum[i]);
    for (size_t p = 1; p < all.size(); ++p) sum[i] += in_bf16 ? nearest(all[p][i]) : all[p][i];
    if (in_bf16) sum[i] = nearest(sum[i]);
  }
  return sum;
}

TEST_F(CudaSumsTest, AddInTheOrderOfTheProcesses) {
  for (const int count : {1, 2, 3, 5}) {
    open(count);
    for (const bool in_bf16 : {false, true}) {
      for (const int64_t size : {1, 15, 16, 33, 1000, 70001}) {
        std::vector<Values> values;
        for (int i = 0; i < count; ++i) values.push_back(random_values(size, static_cast<uint64_t>(i)));
        const Values wanted = sum_of(values, in_bf16);
        start(values, in_bf16);
        finish();
        for (const Values& sum : values) ASSERT_EQ(sum, wanted) << count << " " << size << " " << in_bf16;
      }
    }
  }
}

// What is on the GPU's own stream before a sum writes its values; the host waits for none of it.
TEST_F(CudaSumsTest, StartWhenTheValuesHaveBeenWritten) {
  open(2);
  std::vector<Values> first(2, Values(100, NAN)), second(2, Values(50, NAN));
  const auto write_later = [](Values& values, float value) {
    fake_gpu().stream.add([&values, value] { values.assign(values.size(), value); });
  };
  for (size_t i = 0; i < 2; ++i) write_later(first[i], static_cast<float>(i) + 1);
  start(first, false);
  for (size_t i = 0; i < 2; ++i) write_later(second[i], static_cast<float>(i) + 10);
  start(second, true);
  EXPECT_TRUE(std::isnan(first[0][0])) << "somebody waited";
  EXPECT_EQ(fake_gpu().waits, 0);
  finish();
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(first[i], Values(100, 3));
    EXPECT_EQ(second[i], Values(50, 21));
  }
}

TEST_F(CudaSumsTest, AllocateNothingOnceTheLargestSliceWasSeen) {
  open(2);
  std::vector<Values> large(2, Values(1000, 1)), small(2, Values(900, 1));
  start(large, false);
  finish();
  fake_gpu().run_all();
  const size_t used = fake_gpu().used;
  for (const bool in_bf16 : {false, true}) {
    start(small, in_bf16);
    start(large, true);
    finish();
    fake_gpu().run_all();
    EXPECT_EQ(fake_gpu().used, used);
  }
  processes_.clear();
  fake_gpu().run_all();
  EXPECT_LT(fake_gpu().used, used);
}

// The memory of the smaller one is still in use.
TEST_F(CudaSumsTest, ALargerSliceMayFollowASmallerOneThatIsInProgress) {
  open(1);
  std::vector<Values> small(1, Values(100, 2)), large(1, Values(5000, 3));
  start(small, true);
  start(large, true);
  fake_gpu().run_all();  // the stream in whose order memory is freed
  finish();
  EXPECT_EQ(small[0], Values(100, 2));
  EXPECT_EQ(large[0], Values(5000, 3));
}

TEST_F(CudaSumsTest, AProcessThatIsLostEndsTheWaitAndTheValuesAreLeftAlone) {
  open(2);
  Values values(100, 1);
  processes_[0]->start(values.data(), 100, false);  // and the other one never does
  lost_ = true;
  EXPECT_EQ(failure_of([&] { processes_[0]->finish(); }), "a process was lost");
  processes_[0].reset();
  const Values before = values;
  let_time_pass();
  EXPECT_EQ(values, before);
}

TEST_F(CudaSumsTest, ALostProcessIsNoticedWhileTheyConnect) {
  lost_ = true;
  EXPECT_EQ(failure_of([&] { open(2); }), "a process was lost");
  EXPECT_EQ(other_stream_count(), 0u) << "what was opened stays open";
}

TEST_F(CudaSumsTest, AnErrorOfNcclIsASentence) {
  open(2);
  Values one(100, 1), other(200, 1);
  processes_[0]->start(one.data(), 100, false);
  processes_[1]->start(other.data(), 200, false);
  EXPECT_EQ(failure_of([&] { finish(); }),
            "NCCL failed at a sum over processes on cuda:0 (Fake) (invalid usage): start again with "
            "NCCL_DEBUG=WARN, which prints the reason");
  processes_.clear();
}

TEST_F(CudaSumsTest, AGpuThatFailsInTheMiddleIsASentence) {
  open(2);
  std::vector<Values> values(2, Values(100, 1));
  start(values, false);
  fake_gpu().failure = cudaErrorIllegalAddress;
  const std::string failure = failure_of([&] { processes_[0]->finish(); });
  EXPECT_NE(failure.find("cuda:0 (Fake) has failed, which was found at a sum over processes"),
            std::string::npos)
      << failure;
  processes_.clear();
}

}  // namespace
}  // namespace dragoman::internal
