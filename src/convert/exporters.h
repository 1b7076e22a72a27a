// Exporters: a model folder as another system's.
#pragma once

#include <string>
#include <vector>

#include "search/saved_model.h"

namespace dragoman::internal {

// Each writes into a folder that is created if needed, and returns notes for the user, one per line. An Error
// names the options that the other system cannot express.
std::vector<std::string> export_ctranslate2(SavedModel& model, const std::string& folder);
std::vector<std::string> export_huggingface(SavedModel& model, const std::string& folder);

// What a recipe must say for Hugging Face's transformers to have a class for its model, and does not: each as
// "model.norm_eps = 1e-5". `source_eos`: of the vocabulary.
std::vector<std::string> unmet_by_huggingface(const ModelConfig& config, bool source_eos);

}  // namespace dragoman::internal
