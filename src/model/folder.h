// A model's folder: config.json says what it is, model.safetensors holds its weights.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "model/config.h"

namespace dragoman {

// The whole of config.json. An Error says which file is missing, no JSON, or of no format that is known.
nlohmann::json read_config(const std::string& folder);

ModelConfig read_model_config(const std::string& folder);

inline std::string weights_path(const std::string& folder) { return folder + "/model.safetensors"; }

}  // namespace dragoman
