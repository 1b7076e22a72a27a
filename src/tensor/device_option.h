// The option that says where a model runs: --device, and training.device.
#pragma once

#include <string>

#include "base/options.h"

namespace dragoman::internal {

// What kernels/devices.h takes.
constexpr const char* default_device = "auto";

Declaration declare_device(Section& section, std::string& device);

}  // namespace dragoman::internal
