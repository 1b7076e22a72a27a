// The files of web/, which are part of the program (cmake/embed.cmake).
#pragma once

#include <string_view>

namespace dragoman {

// By its name in web/. Asking for one that is not there is a broken invariant.
std::string_view embedded_file(std::string_view name);

}  // namespace dragoman
