// General text beside the user's segments: so that the model does not forget the rest of the language, and so that what
// it would forget shows.
//
// By preference: files that are given; the sample of its training text that the model's folder has, and the pairs
// beside it that it has not seen; the sentences that come with the program for the model's languages. Where there are
// sources alone, the model as it was translates them.
#pragma once

#include <nlohmann/json.hpp>

#include "adapt/config.h"
#include "student/stage.h"

namespace dragoman::internal {

nlohmann::ordered_json general_inputs(const AdaptConfig& config);

// Writes split_text_in(the stage's folder). The report says where the text is from and whether its targets are
// references ("references"), or what the model made itself. Throws an Error where there is no text.
void write_general(const AdaptConfig& config, Stage& stage);

}  // namespace dragoman::internal
