// How much memory this program may still take without somebody being killed for it.
#pragma once

#include <cstdint>
#include <string>

namespace dragoman {

// Bytes: what the machine has to spare, or less where a control group (a container, a job of a batch system) allows
// less. `root` is where /proc and /sys are looked for.
int64_t available_memory(const std::string& root = "");

// Bytes of memory that this program had at most, mapped files that it read included; where the system can, since the
// last forget_peak_memory().
int64_t peak_memory();
void forget_peak_memory();

}  // namespace dragoman
