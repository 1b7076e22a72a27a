// Version and compiler of this build: another one may compute other bits.
#pragma once

#include <string>

namespace dragoman::internal {

std::string version();     // 0.2.0
std::string build_name();  // 0.2.0, gcc 12.2.0

}  // namespace dragoman::internal
