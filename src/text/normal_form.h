// Unicode's normal form C: characters composed with their accents where a composed character exists.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

std::string composed(std::string_view utf8);

}  // namespace dragoman::internal
