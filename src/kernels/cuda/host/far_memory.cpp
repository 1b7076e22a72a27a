#include "kernels/cuda/host/far_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"

namespace dragoman::internal::on_host {
namespace {

constexpr size_t page = 4096,
                 arena_size = size_t{1} << 40;  // addresses alone: pages come when they are touched

// All of it is one arena, so that one call opens it or closes it.
class FarMemory final : public DeviceMemory {
 public:
  FarMemory() {
    void* data = mmap(nullptr, arena_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    arena_ = static_cast<char*>(data);
  }

  void* reserve(size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t size = (bytes + page - 1) / page * page;
    const auto found = std::ranges::find(free_, size, &Region::size);
    if (found != free_.end()) {
      char* const data = found->data;
      free_.erase(found);
      return data;
    }
    CHECK(reserved_ + size <= arena_size, "{} bytes after {}", size, reserved_);
    char* const data = arena_ + reserved_;
    reserved_ += size;
    if (users_ > 0) protect(PROT_READ | PROT_WRITE);  // for a kernel that others have opened the rest for
    return data;
  }
  void release(void* data, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t size = (bytes + page - 1) / page * page;
    madvise(data, size, MADV_DONTNEED);
    free_.push_back({static_cast<char*>(data), size});
  }
  void commit(void*, size_t) override {}

  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override {
    const KernelAccess access;
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void fill(Matrix to, float value) override {
    const KernelAccess access;
    cpu_memory().fill(to, value);
  }
  std::shared_ptr<const void> adopt(std::shared_ptr<const void> host, size_t bytes) override {
    void* const data = reserve(bytes);
    upload(data, host.get(), bytes);
    return {data, [this, bytes](const void* adopted) { release(const_cast<void*>(adopted), bytes); }};
  }
  bool is_host_memory() const override { return false; }

  // For as long as anyone uses it: searches run side by side.
  void open() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) protect(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) protect(PROT_NONE);
  }

 private:
  struct Region {
    char* data;
    size_t size;
  };

  void protect(int access) {
    CHECK(mprotect(arena_, reserved_, access) == 0, "mprotect: {}", std::strerror(errno));
  }

  std::mutex mutex_;
  char* arena_ = nullptr;
  std::vector<Region> free_;
  size_t reserved_ = 0;
  int users_ = 0;
};

std::atomic<FarMemory*> in_use = nullptr;

}  // namespace

DeviceMemory& far_memory() {
  static auto* const memory = new FarMemory;
  in_use = memory;
  return *memory;
}

KernelAccess::KernelAccess() {
  if (FarMemory* memory = in_use) memory->open();
}
KernelAccess::~KernelAccess() {
  if (FarMemory* memory = in_use) memory->close();
}

}  // namespace dragoman::internal::on_host
