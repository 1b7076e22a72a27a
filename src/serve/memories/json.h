// Segments as JSON.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "memory/memory.h"
#include "serve/translations.h"

namespace dragoman::internal {

// [{"source", "target", "similarity", "exact"}, ...]
nlohmann::ordered_json json_of_segments(const std::vector<UsedSegment>& segments);
nlohmann::ordered_json schema_of_segments();

UsedSegment used_segment(const MemoryMatch& match);

}  // namespace dragoman::internal
