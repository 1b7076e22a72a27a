// A public Memory over a memory that is open already, for rooms above: a process may open a memory to add only once.
#pragma once

#include <memory>

#include "dragoman/memory.h"
#include "memory/memory.h"

namespace dragoman::internal {

// For translating: adding through it is refused.
dragoman::Memory memory_over(std::shared_ptr<const TranslationMemory> memory);

}  // namespace dragoman::internal
