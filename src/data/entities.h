// The entities of XML and SGML texts: "&amp;", "&#8217;", "&#x2019;".
#pragma once

#include <string>
#include <string_view>

namespace dragoman::internal {

// Replaces amp, lt, gt, quot, apos and numbers by their characters, a control character by a space. Others stay as they
// are, as does an ampersand by itself.
std::string decoded_entities(std::string_view text);

}  // namespace dragoman::internal
