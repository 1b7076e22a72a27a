// Placeholders: what of a text must come out of a translation as it is, once for each time that it is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/spans.h"

namespace dragoman::internal {

// In bytes, in their order:
//   %s %1$d %(name)s %%        printf and its relatives; Qt's %1 and %L1
//   {name} {0:.2f} {{ name }}  also ${name}, %{name} and #{name}
//   $NAME$ $t(key)             Chrome's messages, i18next
//   https://… www.… me@x.org   addresses
std::vector<TextSpan> find_placeholders(std::string_view text);

// The text is nothing but placeholders, numbers and punctuation.
bool is_only_placeholders(std::string_view text);

}  // namespace dragoman::internal
