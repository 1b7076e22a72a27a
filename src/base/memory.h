// How much memory this program may still take without somebody being killed for it.
#pragma once

#include <cstdint>
#include <string>

namespace dragoman {

// Bytes: what the machine has to spare, or less where a control group (a container, a job of a batch system) allows
// less. `root` is where /proc and /sys are looked for.
int64_t available_memory(const std::string& root = "");

}  // namespace dragoman
