// A GPU's memory: it grows behind addresses that stay, and uploads wait for nobody.
#include "kernels/cuda/gpu/memory.h"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "gpu/fake_gpu.h"
#include "kernels/cuda/gpu/gpu.h"

namespace dragoman::internal {
namespace {

constexpr size_t mib = size_t{1} << 20;

class CudaMemoryTest : public testing::Test {
 protected:
  CudaMemoryTest() {
    report_failures();
    reset_fake_gpu();
  }
  ~CudaMemoryTest() override { reset_fake_gpu(); }

  std::vector<float> downloaded(const float* from, size_t count) {
    std::vector<float> values(count);
    memory.download(values.data(), from, count * sizeof(float));
    return values;
  }

  CudaMemory memory{Gpu::of(0)};
};

std::vector<float> counted(size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(CudaMemoryTest, GrowsInStepsBehindAddressesThatStay) {
  auto* const data = static_cast<float*>(memory.reserve(1024 * mib));
  EXPECT_TRUE(fake_gpu().mapped.empty());
  memory.commit(data, 1);
  const std::vector<float> values = counted(1000);
  memory.upload(data, values.data(), 4000);
  memory.commit(data, 64 * mib);
  EXPECT_EQ(fake_gpu().mapped, (std::vector<size_t>{64 * mib}));
  memory.commit(data, 64 * mib + 1);
  memory.commit(data, 300 * mib - 1);
  EXPECT_EQ(fake_gpu().mapped, (std::vector<size_t>{64 * mib, 64 * mib, 172 * mib}));
  EXPECT_EQ(downloaded(data, 1000), values);
  const size_t used = fake_gpu().used;
  memory.release(data, 1024 * mib);
  EXPECT_EQ(fake_gpu().used, used - 300 * mib);
}

TEST_F(CudaMemoryTest, GrowsByAShareOfAllOfIt) {
  fake_gpu().capacity = 8192 * mib;
  void* const data = memory.reserve(4096 * mib);
  memory.commit(data, 3200 * mib);
  memory.commit(data, 3201 * mib);
  EXPECT_EQ(fake_gpu().mapped, (std::vector<size_t>{3200 * mib, 200 * mib}));
  memory.commit(data, 4096 * mib);
  EXPECT_EQ(fake_gpu().mapped.back(), 696 * mib);
  memory.release(data, 4096 * mib);
}

TEST_F(CudaMemoryTest, TheLastMemoryIsTakenInSmallerSteps) {
  fake_gpu().capacity = fake_gpu().used + 100 * mib;
  void* const data = memory.reserve(1024 * mib);
  memory.commit(data, 80 * mib);
  memory.commit(data, 90 * mib);
  EXPECT_EQ(fake_gpu().mapped, (std::vector<size_t>{80 * mib, 10 * mib}));
  const std::string failure = failure_of([&] { memory.commit(data, 120 * mib); });
  EXPECT_NE(failure.find("cuda:0 (Fake) has 10 MB of its"), std::string::npos) << failure;
  EXPECT_NE(failure.find("but 31 MB more are needed: make batch_tokens"), std::string::npos) << failure;
  memory.commit(data, 90 * mib);
  memory.release(data, 1024 * mib);
}

TEST_F(CudaMemoryTest, UploadsTakeWhatTheHostHasNowAndDoNotWait) {
  auto* const data = static_cast<float*>(memory.reserve(64 * mib));
  memory.commit(data, 64 * mib);
  std::vector<float> values = counted(1000, 5);
  for (int i = 0; i < 1000; ++i) {
    memory.upload(data + i * 1000, values.data(), 4000);
    for (float& v : values) ++v;
  }
  EXPECT_EQ(fake_gpu().waits, 0);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(downloaded(data + i * 1000, 1000), counted(1000, 5 + static_cast<float>(i))) << i;
  memory.release(data, 64 * mib);
}

TEST_F(CudaMemoryTest, AnUploadLargerThanTheRingWaitsForItsOwnPages) {
  constexpr size_t count = (50 * mib + 12) / 4;
  auto* const data = static_cast<float*>(memory.reserve(64 * mib));
  memory.commit(data, 64 * mib);
  const std::vector<float> small = counted(77, 1000), large = counted(count);
  memory.upload(data, small.data(), 77 * 4);
  memory.upload(data + 77, large.data(), count * 4);
  EXPECT_GT(fake_gpu().waits, 0);
  EXPECT_LT(fake_gpu().waits, 30);
  EXPECT_EQ(downloaded(data, 77), small);
  EXPECT_EQ(downloaded(data + 77, count), large);
  memory.release(data, 64 * mib);
}

TEST_F(CudaMemoryTest, CopiesAndFillsInTheStreamsOrder) {
  auto* const data = static_cast<float*>(memory.reserve(mib));
  memory.commit(data, mib);
  const std::vector<float> values = counted(35);
  memory.upload(data, values.data(), 35 * 4);
  memory.copy(data + 100, data, 35 * 4);
  memory.fill({data, 5, 3, 7}, 2.5F);
  memory.fill({data + 100, 5, 7, 7}, -0.0F);
  memory.fill({data + 100, 2, 3, 7}, 0.0F);
  memory.fill({data, 0, 3, 7}, 1);
  const std::vector<float> filled = downloaded(data, 35), zeros = downloaded(data + 100, 35);
  for (size_t i = 0; i < 35; ++i) {
    EXPECT_EQ(filled[i], i % 7 < 3 ? 2.5F : values[i]) << i;
    EXPECT_EQ(std::signbit(zeros[i]), !(i < 14 && i % 7 < 3)) << i;
    EXPECT_EQ(zeros[i], 0) << i;
  }
  memory.release(data, mib);
}

TEST_F(CudaMemoryTest, AdoptedMemoryIsACopyThatItsLastOwnerFrees) {
  auto host = std::make_shared<std::vector<float>>(counted(1000));
  fake_gpu().run_all();
  const size_t used = fake_gpu().used;
  std::shared_ptr<const void> adopted = memory.adopt(std::shared_ptr<const void>(host, host->data()), 4000);
  host->assign(1000, -1);
  EXPECT_EQ(downloaded(static_cast<const float*>(adopted.get()), 1000), counted(1000));
  const std::shared_ptr<const void> other = adopted;
  adopted.reset();
  fake_gpu().run_all();
  EXPECT_EQ(fake_gpu().used, used + 4000);
  const_cast<std::shared_ptr<const void>&>(other).reset();
  fake_gpu().run_all();
  EXPECT_EQ(fake_gpu().used, used);
}

TEST_F(CudaMemoryTest, ALostGpuIsFoundAtTheNextWait) {
  auto* const data = static_cast<float*>(memory.reserve(mib));
  memory.commit(data, mib);
  fake_gpu().failure = cudaErrorIllegalAddress;
  const float value = 1;
  memory.upload(data, &value, 4);  // a view's destructor uploads: nothing may be thrown
  const std::string failure = failure_of([&] { downloaded(data, 1); });
  EXPECT_EQ(
      failure,
      "cuda:0 (Fake) has failed, which was found at a download: an illegal memory access was encountered; "
      "what it computed is lost, so start again: training goes on from its last checkpoint");
  memory.release(data, mib);
}

}  // namespace
}  // namespace dragoman::internal
