// The option that says where a model runs: --device, and training.device.
#pragma once

#include <string>

#include "base/options.h"

namespace dragoman::internal {

// What kernels/devices.h takes.
constexpr const char* default_device = "auto";

// Whether several may be named: only those that translate share their work.
enum class Devices { one, several };

Declaration declare_device(Section& section, std::string& device, Devices devices = Devices::one);

}  // namespace dragoman::internal
