// Counts what this test program asks the system's allocator for, in any thread.
#pragma once

#include <cstdint>

namespace dragoman::internal {

// Allocations since the program began: of malloc and its kin, or, where a sanitizer has these, of operator new.
int64_t allocations();

}  // namespace dragoman::internal
