// The YAML in and beside Marian's models: what the model is, and how it is searched.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"
#include "search/options.h"

namespace dragoman::internal {

enum class MarianProgram { marian, bergamot };

// For special:model.yml.
std::string marian_configuration(const ModelConfig& config, MarianProgram program);

// The files of a folder, by their names in it.
struct MarianFileNames {
  std::string model, source_vocabulary, target_vocabulary;
  std::string shortlist = {};  // empty: none
};

// A decoder.yml; or a config.yml of Bergamot. `fixed_activations`: their multipliers are in the model's file.
std::string marian_decoder_settings(const MarianFileNames& files, const SearchOptions& search,
                                    MarianProgram program, bool fixed_activations);

}  // namespace dragoman::internal
