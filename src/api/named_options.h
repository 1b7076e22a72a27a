// The public options by name, over the engine's declarations.
#pragma once

#include <vector>

#include "base/options.h"
#include "dragoman/options.h"

namespace dragoman::internal {

// Sets the variables that the given options name. A UsageError where a name is unknown or a value not allowed.
void set_options(Options& declared, const dragoman::Options& given);

// Those that a recipe or a flag has set, as one would hand them to the library.
dragoman::Options given_options(const Options& declared);

std::vector<OptionInfo> describe_options(const Options& declared);

}  // namespace dragoman::internal
