// The pieces of a translation, arranged so that Markdown can express them: no mark is empty, none begins or ends with
// white space, none begins a block of HTML, and a line break has words on both sides.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

struct MarkdownPiece {
  using Kind = RenderedPiece::Kind;
  Kind kind = Kind::text;
  const DocumentMark* mark = nullptr;  // null: text
  std::string text = {};               // of a mark: as the file has it, without white space at its ends
  bool elsewhere = false;              // the other half of an emphasis, outside the segment
  bool breaks_line = false;            // a hard line break, with the white space at its ends

  bool is_text() const { return kind == Kind::text; }
};

// "*", "**", "_" or "__"; empty: the mark is no emphasis.
std::string_view emphasis_of(const DocumentMark* mark);

bool is_markdown_link(const DocumentMark* mark);

// `source`: the segment's text.
std::vector<MarkdownPiece> arranged(const std::vector<RenderedPiece>& rendered, std::string_view source);

// Joins texts that stand side by side, and removes empty ones.
void merge_texts(std::vector<MarkdownPiece>& pieces);

}  // namespace dragoman::internal
