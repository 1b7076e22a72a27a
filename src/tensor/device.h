// Device: where a model runs. Its kernels, what they run on, and its memory.
#pragma once

#include "kernels/kernels.h"
#include "tensor/pool.h"

namespace dragoman {

struct Device {
  const Kernels& kernels;
  Context context;
  Pool pool;

  explicit Device(const Kernels& table, int threads) : kernels(table), context(threads) {}
};

}  // namespace dragoman
