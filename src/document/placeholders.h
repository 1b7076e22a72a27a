// Placeholders: parts of a text that a translation must keep as they are, each once per occurrence.
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

// Their texts, in alphabetical order.
std::vector<std::string_view> sorted_placeholders(std::string_view text);

// Whether the text is only placeholders, numbers and punctuation.
bool is_only_placeholders(std::string_view text);

}  // namespace dragoman::internal
