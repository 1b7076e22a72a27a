#include "serve/memories/json.h"

#include "serve/translation_json.h"

namespace dragoman::internal {

using nlohmann::ordered_json;

ordered_json json_of_segments(const std::vector<dragoman::MemorySegment>& segments) {
  ordered_json list = ordered_json::array();
  for (const dragoman::MemorySegment& segment : segments) list.push_back(to_json(segment));
  return list;
}

ordered_json schema_of_segments() {
  const ordered_json text = {{"type", "string"}};
  return {{"type", "array"},
          {"items",
           {{"type", "object"},
            {"required", {"source", "target", "similarity", "exact"}},
            {"properties",
             {{"source", text},
              {"target", text},
              {"similarity",
               {{"type", "number"}, {"description", "1 minus the share of words that are to be changed"}}},
              {"exact", {{"type", "boolean"}}}}}}}};
}

dragoman::MemorySegment used_segment(const MemoryMatch& match) {
  return {match.segment.source, match.segment.target, match.similarity, match.exact};
}

}  // namespace dragoman::internal
