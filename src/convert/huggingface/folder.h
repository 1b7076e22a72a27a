// What the folders of Hugging Face's encoder-decoder models have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/files/tensors.h"
#include "convert/imported_model.h"
#include "convert/settings.h"
#include "model/config.h"

namespace dragoman::internal {

// config.json with generation_config.json, where the defaults of generate() are today.
Settings read_model_settings(const std::string& folder);

// The sizes, the activation and dropouts; what differs between classes keeps the defaults of ModelConfig.
ModelConfig common_config(const Settings& settings);

// The weights, and the path for messages.
std::pair<ForeignTensors, std::string> read_model_weights(const std::string& folder);

// check_tensors() for models that have fairseq's names.
void check_fairseq_names(const ImportedModel& model, const std::string& path, const ForeignTensors& tensors);

// Beam, length penalty and maximum length, as options of the search by name. `start_tokens`: of an output.
nlohmann::json search_of(const Settings& settings, int64_t start_tokens);

// Adds a note for each setting of transformers' search that there is no option for here.
void note_ignored(const Settings& settings, std::vector<std::string>& choices);

}  // namespace dragoman::internal
