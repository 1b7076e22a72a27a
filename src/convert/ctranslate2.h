// Imports encoder-decoder Transformers of CTranslate2: a folder with model.bin and vocabularies, of any version.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_ctranslate2(const std::string& folder);

ImportedModel import_ctranslate2(const ImportRequest& request);

}  // namespace dragoman::internal
