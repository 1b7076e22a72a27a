// From text and inline tags to a segment with marks: the part of SegmentBuilder that does not depend on the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"

namespace dragoman::internal {

enum class WhiteSpace {
  collapsed,  // a stretch of it is one space, as in HTML
  kept,       // as the file has it
};

struct MarkupItem {
  enum class Kind { text, reference, open, close, point, fixed };
  Kind kind;
  TextSpan bytes;                 // of the stretch's bytes
  TextSpan shown = {};            // of its `shown`: the character of a reference, the name of a tag
  std::optional<size_t> partner;  // of a tag: the other one of the pair
  std::optional<size_t> written;  // of both tags: the index of the translation's closing tag in the stretch
};

// Everything between two borders.
struct MarkupStretch {
  std::string bytes, shown;
  std::vector<MarkupItem> items;
  std::vector<std::string> written;  // closing tags that differ in a translation

  std::string_view bytes_of(const MarkupItem& item) const;
  std::string_view shown_of(const MarkupItem& item) const;
  void clear();  // keeps its memory
};

// What an item of text shows; empty: it is none.
std::string_view text_of(const MarkupStretch& stretch, const MarkupItem& item);

struct PlacedSegment {
  TextSpan place;  // in the stretch's bytes
  DocumentSegment segment;
};

struct StretchRules {
  WhiteSpace white_space = WhiteSpace::collapsed;
  bool tags_around = false;  // pairs of tags around all words belong to the segment, too
};

struct ItemRange {
  size_t begin = 0, end = 0;
};

// Of these items, from the first word to the last, with the tags that have their partners there. None if there are no
// letters.
std::optional<PlacedSegment> segment_in(const MarkupStretch& stretch, ItemRange items,
                                        const StretchRules& rules);

}  // namespace dragoman::internal
