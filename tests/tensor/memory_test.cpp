// The CPU's memory, and views of any device's.
#include "kernels/memory.h"

#include <cstring>

#include <gtest/gtest.h>

#include "tensor/array.h"
#include "tensor/tensor.h"

namespace dragoman::internal {
namespace {

// Memory that the host may not access in place: views are copies.
class FarMemory final : public DeviceMemory {
 public:
  void* reserve(size_t bytes) override { return cpu_memory().reserve(bytes); }
  void release(void* data, size_t bytes) override { cpu_memory().release(data, bytes); }
  void commit(void*, size_t) override {}
  void upload(void* to, const void* from, size_t bytes) override {
    ++uploads;
    cpu_memory().upload(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    ++downloads;
    cpu_memory().download(to, from, bytes);
  }
  void copy(void* to, const void* from, size_t bytes) override { cpu_memory().copy(to, from, bytes); }
  void fill(Matrix to, float value) override { cpu_memory().fill(to, value); }
  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t) override { return host; }
  bool is_host_memory() const override { return false; }

  int uploads = 0, downloads = 0;
};

TEST(CpuMemoryTest, FillsTheColumnsOfAMatrixAlone) {
  for (const float value : {0.0F, -0.0F, 2.5F}) {
    std::vector<float> values(5 * 7, 1);
    cpu_memory().fill({values.data(), 5, 3, 7}, value);
    for (size_t i = 0; i < values.size(); ++i) {
      const float wanted = i % 7 < 3 ? value : 1;
      EXPECT_EQ(std::memcmp(&values[i], &wanted, sizeof wanted), 0) << i;
    }
    cpu_memory().fill({values.data(), 5, 7, 7}, 3);
    EXPECT_EQ(values, std::vector<float>(35, 3));
  }
}

TEST(CpuMemoryTest, AdoptsHostMemoryInPlace) {
  const auto host = std::make_shared<int>(5);
  EXPECT_EQ(cpu_memory().adopt(host, sizeof(int)).get(), host.get());
}

TEST(HostViewTest, OnTheCpuIsTheMemoryItself) {
  Pool pool;
  const Tensor tensor(pool, 2, 3);
  EXPECT_EQ(tensor.values().data(), tensor.data());
  EXPECT_EQ(tensor.writable_values().data(), tensor.data());
}

TEST(HostViewTest, ElsewhereIsACopyThatIsWrittenBack) {
  FarMemory memory;
  Pool pool(memory);
  const Array<int32_t> array(pool, std::vector<int32_t>{4, 5, 6});
  EXPECT_EQ(memory.uploads, 1);
  {
    HostView<int32_t> first = array.writable_values();
    const HostView<int32_t> view = std::move(first);
    EXPECT_NE(view.data(), array.data());
    EXPECT_EQ(view[2], 6);
    view[2] = 7;
    EXPECT_EQ(array.data()[2], 6);
  }
  EXPECT_EQ(array.data()[2], 7);
  EXPECT_EQ(memory.uploads, 2) << "a view that was moved from writes nothing";
  EXPECT_EQ(array.values()[0], 4);
  EXPECT_EQ(memory.uploads, 2) << "what is only read is not written";
  EXPECT_EQ(memory.downloads, 2);
  EXPECT_EQ(array.download(), (std::vector<int32_t>{4, 5, 7}));
}

}  // namespace
}  // namespace dragoman::internal
