#include "parallel/processes.h"

#include <cstring>

#include "base/threads.h"

namespace dragoman::internal {

int SingleProcess::share_of_threads() const { return available_threads(); }

void SingleProcess::gather_bytes(const void* own, size_t bytes, void* all) { std::memcpy(all, own, bytes); }

Processes& single_process() {
  static SingleProcess single;
  return single;
}

}  // namespace dragoman::internal
