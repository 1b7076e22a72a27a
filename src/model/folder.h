// A model folder: config.json describes the model, model.safetensors holds its weights.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "model/config.h"

namespace dragoman::internal {

// The whole of config.json. Throws an Error if it is missing, not JSON or of an unknown format.
nlohmann::json read_config(const std::string& folder);

ModelConfig read_model_config(const std::string& folder);
// From what read_config() has read.
ModelConfig read_model_config(const std::string& folder, const nlohmann::json& config);

inline std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }

}  // namespace dragoman::internal
