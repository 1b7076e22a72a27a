// A model folder: config.json describes the model, model.safetensors holds its weights.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "model/config.h"

namespace dragoman::internal {

// The whole of config.json. Throws an Error if it is missing, not JSON or of an unknown format.
nlohmann::json read_config(const std::string& folder);

ModelConfig read_model_config(const std::string& folder);
// From what read_config() has read.
ModelConfig read_model_config(const std::string& folder, const nlohmann::json& config);

inline std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }
// The same; an Error that says why there may be none.
std::string existing_weights(const std::string& folder);

// --- A new model folder, made from another or imported.

// Throws a UsageError if the folder holds a model already, an Error if it cannot be written.
void check_new_model_folder(const std::string& folder);

// Configuration, vocabularies and shortlist, into a folder that is created if needed.
void copy_all_but_weights(const std::string& from, const std::string& to);

}  // namespace dragoman::internal
