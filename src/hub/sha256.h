// SHA-256, with which published files are checked.
#pragma once

#include <string>

namespace dragoman::internal {

// As 64 hexadecimal digits. A signal that asks to stop ends it: Stopped is thrown.
std::string sha256_of_file(const std::string& path);

}  // namespace dragoman::internal
