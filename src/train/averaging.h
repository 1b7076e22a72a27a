// The average of several checkpoints or models.
#pragma once

#include <string>
#include <vector>

#include "nn/parameters.h"

namespace dragoman::internal {

// Sets the weights to the mean of those in the files. An Error names the first file that is damaged or has values that
// are not finite.
void average_weights(Parameters& parameters, const std::vector<std::string>& files);

}  // namespace dragoman::internal
