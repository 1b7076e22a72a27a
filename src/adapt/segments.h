// The user's segments, cleaned as dragoman clean does, and split.
#pragma once

#include <nlohmann/json.hpp>

#include "adapt/config.h"
#include "student/stage.h"

namespace dragoman::internal {

// Everything that the outputs depend on.
nlohmann::ordered_json segments_inputs(const AdaptConfig& config);

// Writes split_text_in(the stage's folder). Throws an Error where too few segments are left to learn from.
void write_segments(const AdaptConfig& config, Stage& stage);

}  // namespace dragoman::internal
