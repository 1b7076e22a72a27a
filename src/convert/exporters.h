// Exporters: a model folder as another system's.
#pragma once

#include <string>
#include <vector>

#include "search/saved_model.h"

namespace dragoman::internal {

// Each writes into a folder that is created if needed, and returns notes for the user, one per line. An Error
// names the option of [model] that the other system cannot express.
std::vector<std::string> export_ctranslate2(SavedModel& model, const std::string& folder);
std::vector<std::string> export_huggingface(SavedModel& model, const std::string& folder);

}  // namespace dragoman::internal
