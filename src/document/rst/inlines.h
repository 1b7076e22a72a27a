// Inline markup of reStructuredText: from a paragraph's lines to text and marks.
#pragma once

#include <string>
#include <string_view>

#include "document/segments/builder.h"

namespace dragoman::internal {

// Passes the text, with the markup in it, to the builder.
void add_rst_inlines(SegmentBuilder& builder, std::string_view text);

// What is written instead of a file of such segments: markup apart from the letters beside it, and none without text.
std::string with_rst_borders(std::string_view file);

// Text without markup, as a file has it.
std::string escape_rst(std::string_view text);
std::string escape_rst_term(std::string_view text);  // of a definition: after " : " a classifier would follow

}  // namespace dragoman::internal
