// How large the inputs of a model's products become in translating some text: what 8-bit activations with fixed
// multipliers need to know.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "search/saved_model.h"

namespace dragoman::internal {

constexpr const char* generator_input = "generator";  // the name of its input, whatever its weight is tied to

// By parameter, the greatest magnitude of what a weight is multiplied by. It is that of a typical line, and some more:
// rare larger values are clipped, so that the others keep their precision. Lines are translated greedily; an Error if
// none has a subword.
std::map<std::string, float> largest_inputs(SavedModel& model, const std::vector<std::string>& lines);

}  // namespace dragoman::internal
