// Several parts of a memory, from the oldest to the newest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "memory/part.h"

namespace dragoman::internal {

using MemoryParts = std::span<const std::shared_ptr<const MemoryPart>>;

struct SegmentPlace {
  size_t part = 0;
  uint32_t number = 0;

  bool operator==(const SegmentPlace&) const = default;
};

// Where the newest segment with the same source is; nothing: nowhere.
std::optional<SegmentPlace> newest_place(MemoryParts parts, std::string_view source);

// The segments that no newer one replaces, the oldest first; among them those with an empty target, which remove
// others.
void for_each_newest(MemoryParts parts, const std::function<void(const MemorySegmentView& segment)>& take);

// One part of all of them. `write` gets its bytes. `is_whole`: there is nothing older that could be removed.
void merge_parts(MemoryParts parts, bool is_whole, const std::function<void(std::string_view bytes)>& write);

}  // namespace dragoman::internal
