#include "kernels/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace dragoman::internal {
namespace {

class CpuMemory final : public DeviceMemory {
 public:
  void* reserve(size_t bytes) override {
    void* data =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    madvise(data, bytes, MADV_HUGEPAGE);
    return data;
  }
  void release(void* data, size_t bytes) override { munmap(data, bytes); }
  void commit(void*, size_t) override {}

  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void fill(Matrix to, float value) override {
    if (to.stride == to.columns) to = {to.data, 1, to.rows * to.columns, to.rows * to.columns};
    for (int64_t r = 0; r < to.rows; ++r) fill(to.data + r * to.stride, to.columns, value);
  }

  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t) override { return host; }
  bool is_host_memory() const override { return true; }

 private:
  static void fill(float* to, int64_t count, float value) {
    if (std::bit_cast<uint32_t>(value) == 0) {
      std::memset(to, 0, static_cast<size_t>(count) * sizeof(float));
    } else {
      std::fill_n(to, count, value);
    }
  }
};

}  // namespace

// Never destroyed: the thread of a translator that its own callback has dropped may outlive the program's statics.
DeviceMemory& cpu_memory() {
  static auto* const memory = new CpuMemory;
  return *memory;
}

}  // namespace dragoman::internal
