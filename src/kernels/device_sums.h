// DeviceSums: sums over the GPUs of several processes. Values stay in the GPUs' memory and are summed there, while
// other kernels go on. Plain types only: a plug-in implements it (cuda_plugin.h).
#pragma once

#include <stdint.h>

namespace dragoman::internal {

// By which the processes find each other: the first one makes it, and all others get it from there.
struct DeviceSumsId {
  char bytes[128];
};

// The processes that sum together, and which of them this is.
struct DeviceSumsGroup {
  DeviceSumsId id;
  int number, count;
  // Called again and again while this process waits for another one, which it ends by throwing.
  void (*pause)(void* argument);
  void* argument;
};

// All processes make the same calls in the same order.
class DeviceSums {
 public:
  DeviceSums() = default;
  virtual ~DeviceSums() = default;  // abandons sums in progress; the values are no longer touched
  DeviceSums(const DeviceSums&) = delete;
  DeviceSums& operator=(const DeviceSums&) = delete;

  // Element by element, the sum over all processes in the order of their numbers, of what kernels that were launched
  // before this call have written. Kernels must not touch the values until finish() returns. In bf16 what is sent is
  // rounded, and sums are of floats in any case.
  virtual void start(float* values, int64_t count, bool in_bf16) = 0;
  // Returns the seconds for which the GPU had nothing to do but these sums.
  virtual double finish() = 0;
};

}  // namespace dragoman::internal
