// Decodes percent-encoded text; a % that does not begin an escape stands for itself, as in browsers.
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

std::string percent_decoded(std::string_view text);
std::string form_decoded(std::string_view text);  // where + is a space, too

}  // namespace dragoman::internal
