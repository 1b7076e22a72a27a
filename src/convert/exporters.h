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

std::vector<std::string> export_marian(SavedModel& model, const std::string& folder);
// In 8 bits. `calibration_text`: a file of source lines, by which the multipliers of activations are fixed; empty: they
// are measured as the model is used.
std::vector<std::string> export_bergamot(SavedModel& model, const std::string& folder,
                                         const std::string& calibration_text);

// What a recipe must say for Hugging Face's transformers to have a class for its model, and does not: each as
// "model.norm_eps = 1e-5". `source_eos`: of the vocabulary.
std::vector<std::string> unmet_by_huggingface(const ModelConfig& config, bool source_eos);
// The same for Marian, and for Bergamot.
std::vector<std::string> unmet_by_marian(const ModelConfig& config, bool source_eos);
std::vector<std::string> unmet_by_bergamot(const ModelConfig& config, bool source_eos);

}  // namespace dragoman::internal
