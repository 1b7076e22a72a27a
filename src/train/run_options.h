// RunOptions: what a run needs to know besides its recipe.
#pragma once

#include <string>

namespace dragoman::internal {

// automatic: resume if there is a checkpoint. require: an error if there is none. never: an error if there is one.
enum class Resume { automatic, never, require };

struct RunOptions {
  std::string folder;  // of the model
  Resume resume = Resume::automatic;
  std::string init_from;  // another model's folder, for its weights; or empty
};

}  // namespace dragoman::internal
