// Imports encoder-decoder Transformers of CTranslate2: a folder with model.bin and vocabularies, of any version.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_ctranslate2(const std::string& folder);

// How the program that a model is made for searches; CTranslate2's own defaults.
struct CTranslate2Search {
  int64_t beam = 2;
  double length_penalty = 1;
  bool replace_unknown = false;
  std::string target_prefix = {};  // token that every output is forced to begin with; empty: none
};

ImportedModel import_ctranslate2_for(const ImportRequest& request, const CTranslate2Search& search);
ImportedModel import_ctranslate2(const ImportRequest& request);

}  // namespace dragoman::internal
