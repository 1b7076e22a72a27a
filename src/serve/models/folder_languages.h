// Which languages a model folder translates between.
#pragma once

#include <map>
#include <string>

#include "dragoman/translator.h"
#include "serve/models/languages.h"

namespace dragoman::internal {

struct ModelLanguages {
  std::map<std::string, std::string> sources,
      targets;  // from codes to the model's own names; empty: it has none
};

// `name`: a pair that the user gave; empty: none. Else a multilingual model knows them; others show them by the files
// that they were trained on ("train.en", "train.fr"; "en-fr.tsv"), or by the folder's name. An Error where none does.
ModelLanguages languages_of(const dragoman::ModelInfo& model, const std::string& name);

}  // namespace dragoman::internal
