#include "train/count_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count{0};

}  // namespace

int64_t dragoman::internal::allocations() { return count.load(); }

#if defined(__GLIBC__) && !defined(DRAGOMAN_ADDRESS_SANITIZER) && !defined(DRAGOMAN_THREAD_SANITIZER)

// The C library's own, under the names by which it lets itself be replaced; operator new calls malloc.
#pragma GCC visibility push(default)
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) noexcept {
  ++count;
  return __libc_malloc(size);
}
void* calloc(size_t number, size_t size) noexcept {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* memory, size_t size) noexcept {
  ++count;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  ++count;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  ++count;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
#pragma GCC visibility pop

#else

void* operator new(size_t size) {
  ++count;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

#endif
