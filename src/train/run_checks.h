// What must hold before a run begins or goes on in a folder. A UsageError says what does not, and what to do.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "train/run.h"

namespace dragoman {

// Before anything is made or written: that the folder holds this run or nothing, and that a new run computes what
// --init-from's model does.
void check_fits_folder(const Recipe& recipe, const RunOptions& options);

// Where there is no whole checkpoint: a model is another command's then, or one whose checkpoints are gone, and not to
// be written over.
void check_no_finished_model(const std::string& folder);

// As config.json has it, and a run that goes on is compared with.
nlohmann::json recipe_json(const Recipe& recipe);

}  // namespace dragoman
