// How much memory this program may still allocate before the system kills a process for it.
#pragma once

#include <cstdint>
#include <string>

namespace dragoman::internal {

// Bytes available on this machine, or less if a control group (a container, a batch job) allows less. /proc and /sys
// are looked up under `root`.
int64_t available_memory(const std::string& root = "");

// Peak memory of this program in bytes, mapped files that it read included; since the last forget_peak_memory(), if
// the system supports that.
int64_t peak_memory();
void forget_peak_memory();

}  // namespace dragoman::internal
