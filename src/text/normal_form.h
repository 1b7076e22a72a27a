// Unicode's normal forms C and D: characters composed with their accents where a composed character exists, or
// decomposed into a letter and its accents.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

std::string composed(std::string_view utf8);
std::string decomposed(std::string_view utf8);

}  // namespace dragoman::internal
