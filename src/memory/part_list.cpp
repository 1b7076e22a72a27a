#include "memory/part_list.h"

#include "memory/part_writer.h"

namespace dragoman::internal {

std::optional<SegmentPlace> newest_place(MemoryParts parts, std::string_view source) {
  const SegmentKey key = memory_key(source);
  const std::string form = strict_form(source);
  for (size_t part = parts.size(); part-- > 0;)
    for (const uint32_t number : parts[part]->with_key(key, false))
      if (strict_form(parts[part]->segment(number).source) == form) return SegmentPlace{part, number};
  return {};
}

void for_each_newest(MemoryParts parts, const std::function<void(const MemorySegmentView& segment)>& take) {
  for (size_t part = 0; part < parts.size(); ++part) {
    for (uint32_t number = 0; number < parts[part]->size(); ++number) {
      const MemorySegmentView segment = parts[part]->segment(number);
      if (newest_place(parts, segment.source) == SegmentPlace{part, number}) take(segment);
    }
  }
}

void merge_parts(MemoryParts parts, bool is_whole, const std::function<void(std::string_view bytes)>& write) {
  PartWriter writer(write);
  for_each_newest(parts, [&](const MemorySegmentView& segment) {
    if (!segment.target.empty() || !is_whole) writer.add(segment);
  });
  writer.finish();
}

}  // namespace dragoman::internal
