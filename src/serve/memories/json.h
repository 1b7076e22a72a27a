// Segments as JSON.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "memory/memory.h"
#include "serve/translations.h"

namespace dragoman::internal {

// [{"source", "target", "similarity", "exact"}, ...]
nlohmann::ordered_json json_of_segments(const std::vector<dragoman::MemorySegment>& segments);
nlohmann::ordered_json schema_of_segments();

dragoman::MemorySegment used_segment(const MemoryMatch& match);

}  // namespace dragoman::internal
