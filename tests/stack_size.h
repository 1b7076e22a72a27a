// A system that refuses threads: their stacks do not fit into memory.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace dragoman::internal {

// While it lives a thread asks for a stack of this size.
class StackSize {
 public:
  explicit StackSize(size_t bytes) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t wanted = before_;
    pthread_attr_setstacksize(&wanted, bytes);
    pthread_setattr_default_np(&wanted);
  }
  ~StackSize() { pthread_setattr_default_np(&before_); }
  StackSize(const StackSize&) = delete;
  StackSize& operator=(const StackSize&) = delete;

 private:
  pthread_attr_t before_;
};

inline constexpr size_t whole_address_space = size_t{1} << 47;

}  // namespace dragoman::internal
