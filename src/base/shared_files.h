// The files of share/, which are part of the program.
#pragma once

#include <string_view>

namespace dragoman::internal {

// By its name; an invariant is broken if there is no such file.
std::string_view shared_file(std::string_view name);

}  // namespace dragoman::internal
