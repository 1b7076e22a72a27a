#include "parallel/gradient_sum.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

// One of two processes, of which the other has nothing to add. Keeps the values as they were when their sum started.
class Recorder : public SingleProcess {
 public:
  struct Started {
    std::span<float> place;
    std::vector<float> values;
  };
  std::vector<Started> sums;
  bool cancelled = false, on_device = false;

  bool sums_device_memory() const override { return on_device; }
  int count() const override { return 2; }
  void start_sum(std::span<float> values, GradientFormat) override { sums.push_back({values, copy(values)}); }
  void cancel_sums() override { cancelled = true; }
};

constexpr int64_t slice_size = 512;

class GradientSumTest : public testing::Test {
 protected:
  GradientSumTest() {
    for (int i = 0; i < 20; ++i) parameters_.declare("p" + std::to_string(i), 9 + i, 17, {});
    parameters_.allocate(Buffers::weights_and_gradients);
  }

  // Each parameter is used twice, one after the other.
  void record(Tape& tape) {
    for (const Parameter& parameter : parameters_.list()) {
      for (int use = 0; use < 2; ++use) {
        float* gradients = parameter.value.gradient().data;
        tape.record({&parameter.value}, [gradients, size = parameter.size()] {
          for (int64_t i = 0; i < size; ++i) gradients[i] += 1;
        });
      }
    }
  }

  Device device_{kernels_for(nullptr), 1};
  Parameters parameters_{device_.pool};
  Recorder recorder_;
};

TEST_F(GradientSumTest, SumsStartDuringBackwardAndOnlyForCompleteSlices) {
  GradientSum sum(parameters_, recorder_, GradientFormat::fp32, slice_size);
  const auto all = parameters_.gradients();
  for (const bool order_is_known : {false, true}) {
    recorder_.sums.clear();
    std::ranges::fill(all, 0.0f);
    Tape tape;
    record(tape);
    sum.begin(tape);
    tape.backward();
    const size_t during_backward = recorder_.sums.size();
    sum.finish(tape);
    EXPECT_EQ(recorder_.sums.size(), (all.size() + slice_size - 1) / slice_size);
    size_t floats = 0;
    for (const Recorder::Started& started : recorder_.sums) {
      EXPECT_EQ(started.values, copy(started.place)) << "something was added after the sum had started";
      floats += started.values.size();
    }
    EXPECT_EQ(floats, all.size());
    EXPECT_EQ(during_backward, order_is_known ? recorder_.sums.size() : 0);
  }
}

// The CPU's memory, as one that the host cannot access.
class OtherMemory final : public DeviceMemory {
 public:
  void* reserve(size_t bytes) override { return cpu_memory().reserve(bytes); }
  void release(void* data, size_t bytes) override { cpu_memory().release(data, bytes); }
  void commit(void*, size_t) override {}
  void upload(void* to, const void* from, size_t bytes) override { cpu_memory().upload(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { cpu_memory().download(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { cpu_memory().copy(to, from, bytes); }
  void fill(Matrix to, float value) override { cpu_memory().fill(to, value); }
  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t) override { return host; }
  bool is_host_memory() const override { return false; }
};

TEST_F(GradientSumTest, ValuesStayInTheDevicesMemoryWhereProcessesSumThere) {
  OtherMemory memory;
  const Kernels& kernels = kernels_for(nullptr);
  Device device(kernels, std::unique_ptr<Context>(kernels.new_context(1)), memory);
  Parameters parameters(device.pool);
  parameters.declare("p", 9, 100, {});
  parameters.allocate(Buffers::weights_and_gradients);
  const auto gradients = parameters.gradients();
  const auto is_of_device = [&](std::span<float> values) {
    return values.data() >= gradients.data() && values.data() < gradients.data() + gradients.size();
  };
  for (const bool on_device : {false, true}) {
    recorder_ = {};
    recorder_.on_device = on_device;
    GradientSum sum(parameters, recorder_, GradientFormat::fp32, slice_size);
    Tape tape;
    sum.finish(tape);
    ASSERT_FALSE(recorder_.sums.empty());
    for (const Recorder::Started& started : recorder_.sums) EXPECT_EQ(is_of_device(started.place), on_device);
  }
}

TEST_F(GradientSumTest, AFailedUpdateCancelsSumsInProgress) {
  for (const bool fails : {false, true}) {
    recorder_.cancelled = false;
    {
      GradientSum sum(parameters_, recorder_, GradientFormat::fp32, slice_size);
      for (const bool order_is_known : {false, true}) {
        Tape tape;
        record(tape);
        sum.begin(tape);
        tape.backward();
        if (!order_is_known || !fails) sum.finish(tape);
      }
    }
    EXPECT_EQ(recorder_.cancelled, fails);
  }
}

}  // namespace
}  // namespace dragoman::internal
