#include "kernels/cuda/host/scratch.h"

#include <algorithm>
#include <cstring>

#if defined(DRAGOMAN_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace dragoman::internal::on_host {
namespace {

constexpr size_t alignment = 256;
// More than that would take longer than the kernels that ask for it.
constexpr size_t most_poisoned = 1 << 20;

// Makes the first `bytes` of a block usable, and, where a sanitizer watches, no more.
void open([[maybe_unused]] void* data, [[maybe_unused]] size_t size, [[maybe_unused]] size_t bytes) {
#if defined(DRAGOMAN_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(data, size);
  __asan_poison_memory_region(static_cast<unsigned char*>(data) + bytes, size - bytes);
#endif
}

}  // namespace

Scratch::~Scratch() {
  open(data_, size_, size_);
  std::free(data_);
}

void* Scratch::get(size_t bytes) {
  if (bytes > size_) {
    open(data_, size_, size_);
    std::free(data_);
    size_ = 0;
    const size_t wanted = (bytes + alignment - 1) / alignment * alignment;
    data_ = std::aligned_alloc(alignment, wanted);
    if (data_ == nullptr) throw std::bad_alloc();
    size_ = wanted;
  }
  open(data_, size_, bytes);
  if (bytes > 0) std::memset(data_, 0xff, std::min(bytes, most_poisoned));
  return data_;
}

}  // namespace dragoman::internal::on_host
