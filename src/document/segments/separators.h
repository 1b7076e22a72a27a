// Separators between inline elements: "Home | About | Contact" as links are three segments, not a sentence.
#pragma once

#include <string_view>
#include <vector>

#include "document/segments/stretch.h"

namespace dragoman::internal {

// The size of the separator that begins a text; 0: none does.
size_t separator_at(std::string_view text);

// The items that separate segments. A separator is an item of its own.
//
// They separate where an element is beside them. Not so > and / in "use <b>a</b> / <b>b</b> here": these do only if one
// of them is between elements and next to a part without text outside elements.
std::vector<size_t> separators_in(const MarkupStretch& stretch);

}  // namespace dragoman::internal
