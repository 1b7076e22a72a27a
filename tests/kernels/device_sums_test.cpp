// Sums over processes on real GPUs, by NCCL itself: on the device that DRAGOMAN_TEST_DEVICE names, and, where there is
// a second GPU, between two processes. With twins of the plug-in and of NCCL (tests/gpu/twins/) it runs anywhere.
#include "kernels/device_sums.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "kernels/devices.h"
#include "kernels/memory.h"

namespace dragoman::internal {
namespace {

constexpr const char* id_of_other = "DRAGOMAN_SUMS_ID";  // in the second process, in hexadecimal

class DeviceSumsTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const device = std::getenv("DRAGOMAN_TEST_DEVICE");
    if (device == nullptr || !is_gpu(kernels_of_device(device))) GTEST_SKIP() << "no GPU to test";
    const SummingDevice summing = summing_device(kernels_of_device(device));
    if (summing.nccl == 0) GTEST_SKIP() << summing.problem;
    name_ = device;
  }

  // What a process brings: numbers from 1 to 50, and sums of them, that are exact in bf16.
  static float value(size_t i, int factor) {
    return static_cast<float>(static_cast<int>(i % 50 + 1) * factor);
  }

  static void expect_sums(const Kernels& kernels, const DeviceSumsId& id, int number, int count) {
    const DeviceSumsGroup group = {id, number, count, pause, nullptr};
    const std::unique_ptr<DeviceSums> sums = open_device_sums(kernels, group);
    DeviceMemory& memory = kernels.memory();
    constexpr size_t count_of_values = 300'001, bytes = count_of_values * sizeof(float);
    auto* const values = static_cast<float*>(memory.reserve(bytes));
    memory.commit(values, bytes);
    std::vector<float> own(count_of_values), sum(count_of_values);
    for (const bool in_bf16 : {false, true}) {
      for (size_t i = 0; i < own.size(); ++i) own[i] = value(i, number + 1);
      memory.upload(values, own.data(), bytes);
      sums->start(values, count_of_values, in_bf16);
      sums->finish();
      memory.download(sum.data(), values, bytes);
      for (size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], value(i, count * (count + 1) / 2)) << i;
    }
    memory.release(values, bytes);
  }

  // Nothing here takes a minute, unless a process is gone.
  static void pause(void*) {
    static const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    if (std::chrono::steady_clock::now() > end) throw Error("the other process does not come");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::string name_;
};

std::string in_hexadecimal(const DeviceSumsId& id) {
  std::string text;
  for (const char byte : id.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

DeviceSumsId from_hexadecimal(const std::string& text) {
  DeviceSumsId id = {};
  for (size_t i = 0; i < sizeof id.bytes; ++i)
    id.bytes[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

TEST_F(DeviceSumsTest, OfOneProcess) {
  const Kernels& kernels = kernels_of_device(name_);
  expect_sums(kernels, new_device_sums_id(kernels), 0, 1);
}

TEST_F(DeviceSumsTest, OfTwoProcesses) {
  if (const char* const id = std::getenv(id_of_other))
    return expect_sums(kernels_of_device("cuda:1"), from_hexadecimal(id), 1, 2);
  if (gpus().size() < 2) GTEST_SKIP() << "there is one GPU alone";
  const Kernels& kernels = kernels_of_device("cuda:0");
  const DeviceSumsId id = new_device_sums_id(kernels);
  int other = -1;
  {
    const std::string run =
        fmt::format("{}={} /proc/{}/exe --gtest_filter=*{}", id_of_other, in_hexadecimal(id), getpid(),
                    testing::UnitTest::GetInstance()->current_test_info()->name());
    const std::jthread second([&] { other = std::system(run.c_str()); });
    expect_sums(kernels, id, 0, 2);
  }
  EXPECT_EQ(other, 0);
}

}  // namespace
}  // namespace dragoman::internal
