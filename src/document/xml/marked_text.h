// The text of a segment from a paragraph's items, with a mark for each item that is not text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

// What is written around a stretch of text: the tags of a run in an office file.
struct RunFormat {
  std::string open, close;
};

struct ParagraphItem {
  enum class Kind { text, fixed, point, open, close, border };
  Kind kind = Kind::text;
  std::string bytes = {};  // for text only if it is a symbol with a tag of its own
  std::string text = {};   // decoded text; the words of a fixed item; the name of a tag
  size_t format = 0;
  size_t partner = SIZE_MAX;  // of tags
};

// Items without borders, whose tags nest, without white space before the first word or after the last. The most
// frequent format of the words directly inside a tag is that tag's; words of another format become a span of their own.
DocumentSegment marked_text(std::span<const ParagraphItem> items, std::span<const RunFormat> formats,
                            bool collapsed);

}  // namespace dragoman::internal
