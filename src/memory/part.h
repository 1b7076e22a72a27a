// MemoryPart: segments that no longer change, in memory or as a mapped file.
//
// A file with a wrong size or footer is an Error when it is opened, one whose contents were changed when it is
// verified; until then, damaged contents give wrong segments, but nothing outside the file is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "memory/part_format.h"
#include "memory/segment.h"
#include "memory/words.h"

namespace dragoman::internal {

class MemoryPart {
 public:
  MemoryPart(SharedBytes bytes, std::string name);
  static MemoryPart of(std::string bytes);

  uint32_t size() const { return static_cast<uint32_t>(footer_.segments); }
  MemorySegmentView segment(uint32_t number) const;

  // Those with the same key, the newest first; `loose`: with the same half of it, in any order. Not a copy, since there
  // may be as many as there are segments.
  std::span<const uint32_t> with_key(SegmentKey key, bool loose) const;

  // The segments that share the rarest words with these, the best first (BM25), at most so many.
  std::vector<uint32_t> candidates(const std::vector<uint64_t>& words, size_t at_most) const;

  // Reads all of it. Throws an Error if it was changed.
  void verify() const;

 private:
  template <class T>
  std::span<const T> section(PartSection section, uint64_t count) const;
  std::string_view text(PartSection section) const;
  [[noreturn]] void refuse() const;

  SharedBytes bytes_;
  std::string name_;
  PartFooter footer_;
  std::string_view texts_, places_;
  std::span<const uint64_t> begins_, keys_;
  std::span<const uint32_t> owners_;
  std::span<const uint8_t> lengths_;
  std::span<const PartWord> words_;
};

}  // namespace dragoman::internal
