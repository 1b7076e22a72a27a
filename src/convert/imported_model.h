// What an importer makes of another system's model, and how that becomes a model folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config.h"
#include "nn/parameters.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct ImportedModel {
  std::string system;  // that it was made for: "Hugging Face Marian"
  ModelConfig config;
  Vocabularies vocabularies;
  bool source_eos = true;
  int64_t max_length = 512;  // tokens of the longest source that it was made for, without the end mark
  nlohmann::json search;     // how it is searched: options of the search by name
  std::vector<std::string> choices;  // what the importer took the model for, to be shown

  // The values of a parameter, row by row. An Error names the tensor that is missing or has another shape.
  std::function<std::vector<float>(const Parameter&)> values;
};

// Writes the folder, config.json last.
void write_model_folder(const ImportedModel& model, const std::string& folder);

}  // namespace dragoman::internal
