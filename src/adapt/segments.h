// The user's segments, cleaned as dragoman clean does, and split.
#pragma once

#include <nlohmann/json.hpp>

#include "adapt/config.h"
#include "base/error.h"
#include "student/stage.h"

namespace dragoman::internal {

// There are segments, but not as many as adapting needs.
class TooFewSegments : public Error {
 public:
  using Error::Error;
};

// Everything that the outputs depend on.
nlohmann::ordered_json segments_inputs(const AdaptConfig& config);

// Writes split_text_in(the stage's folder).
void write_segments(const AdaptConfig& config, Stage& stage);

}  // namespace dragoman::internal
