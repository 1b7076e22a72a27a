// The segments of files: TMX, XLIFF and PO (document/bilingual.h), TSV (source, tab, target), the server's suggestions
// (JSON lines), and two files that correspond line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "memory/segment.h"

namespace dragoman::internal {

struct SegmentFiles {
  std::vector<std::string> files;  // of the first five kinds, told apart by their names
  std::string source, target;      // the two; empty: there are none
  std::string from = {}, to = {};  // languages
  std::string origin = {};         // of all segments; empty: the name of each file
};

// read == taken + empty + invalid + other_language
struct SegmentCounts {
  int64_t read = 0, taken = 0;
  int64_t empty = 0;           // a side of white space
  int64_t invalid = 0;         // not UTF-8, a NUL byte, no second column, or not a suggestion
  int64_t other_language = 0;  // a suggestion for other languages
};

// Throws an Error if a file is not of any of these kinds, or is damaged.
SegmentCounts read_segments(const SegmentFiles& files,
                            const std::function<void(const MemorySegmentView& segment)>& take);

}  // namespace dragoman::internal
