// Device: where a model runs. Its kernels, what they run on, and its memory.
#pragma once

#include <memory>

#include "kernels/kernels.h"
#include "kernels/memory.h"
#include "tensor/pool.h"

namespace dragoman::internal {

struct Device {
  const Kernels& kernels;
  const std::unique_ptr<Context> own_context;
  Context& context;
  DeviceMemory& memory;
  Pool pool;

  Device(const Kernels& table, int threads)
      : Device(table, std::unique_ptr<Context>(table.new_context(threads)), table.memory()) {}

  // With another context or memory than the table's own, of the kinds that its kernels expect.
  Device(const Kernels& table, std::unique_ptr<Context> context_, DeviceMemory& memory_)
      : kernels(table),
        own_context(std::move(context_)),
        context(*own_context),
        memory(memory_),
        pool(memory_) {}

  // Another device of the same kind and memory, for another thread, which may read this one's data.
  Device(const Device& other, int threads)
      : Device(other.kernels, std::unique_ptr<Context>(other.context.clone(threads)), other.memory) {}
};

}  // namespace dragoman::internal
