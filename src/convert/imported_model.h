// Another system's model as an importer reads it, and how that becomes a model folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/files/tensors.h"
#include "data/lexicon.h"
#include "model/config.h"
#include "nn/parameters.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// What a user asks for.
struct ImportRequest {
  std::string source;                          // folder or file
  std::vector<std::string> vocabularies = {};  // files outside it, the source's first; one: for both sides
};

struct ImportedModel {
  std::string system;  // that it was made for: "Hugging Face Marian"
  ModelConfig config;
  Vocabularies vocabularies;
  bool source_eos = true;
  std::string source_language = {};  // "en", "eng", "eng_Latn"; empty: unknown
  int64_t max_length = 512;          // tokens of the longest source that it supports, without the end mark
  nlohmann::json search;             // how it is searched: options of the search by name
  std::vector<std::string> choices;  // notes on the importer's decisions, for display

  Precision precision =
      Precision::fp32;  // of the folder's weights: fp32, or int8 where the model has integers
  std::optional<Lexicon> shortlist = {};  // tokens that outputs may consist of

  // The tensors that a parameter consists of, side by side: each a matrix with the parameter's rows and some of its
  // columns. An Error names the tensor that is missing or has another shape.
  std::function<std::vector<ForeignTensor>(const Parameter&)> tensors_of;
};

// A note on its search settings.
std::string search_choice(const ImportedModel& model);

// Writes the folder, config.json last. Memory is needed for some rows of a parameter at a time. A signal that asks to
// stop ends it: Stopped is thrown.
void write_model_folder(const ImportedModel& model, const std::string& folder);

}  // namespace dragoman::internal
