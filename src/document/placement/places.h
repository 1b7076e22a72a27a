// Where the marks of a segment are placed among the words of its translation.
#pragma once

#include <cstddef>
#include <vector>

#include "document/document.h"
#include "document/placement/word_links.h"

namespace dragoman::internal {

// A mark, or the text between two cuts, or the whole segment. In a list of them each comes after its parent, and all
// that is inside it follows it.
struct Placed {
  const DocumentMark* mark = nullptr;  // null: the segment, or the text between two cuts
  size_t parent = 0;                   // its number; the segment's own is 0
  size_t end = 0;                      // the number after the last one inside it
  TextSpan source = {};                // widened to whole words
  WordRange words = {};                // a point or an empty span is before word `words.begin`
  bool right = false;                  // such a mark is written after the white space there, not before it
};

std::vector<Placed> place(const DocumentSegment& segment, const WordLinks& links);

}  // namespace dragoman::internal
