// Texts as the ids that a model reads and predicts, for what looks at one pair of them at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "search/saved_model.h"

namespace dragoman::internal {

// What the encoder reads: at least one id.
std::vector<int32_t> source_ids(const SavedModel& model, std::string_view text, const SearchOptions& options);

// Start tokens, subwords and end mark. The decoder reads all but the last of them, and predicts all but the first.
std::vector<int32_t> target_ids(const SavedModel& model, std::string_view text, const SearchOptions& options);

}  // namespace dragoman::internal
