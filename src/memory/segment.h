// A segment of a translation memory: a text and its translation, as somebody wrote or confirmed it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::internal {

struct MemorySegment {
  std::string source, target;
  std::string origin = {};  // where it is from: a file, a person; may be empty
  int64_t changed = 0;      // seconds since 1970; 0: unknown
};

// The same in a memory's own bytes, valid as long as the part of the memory that has them.
struct MemorySegmentView {
  std::string_view source, target, origin;
  int64_t changed = 0;

  MemorySegment copy() const {
    return {std::string(source), std::string(target), std::string(origin), changed};
  }
};

}  // namespace dragoman::internal
