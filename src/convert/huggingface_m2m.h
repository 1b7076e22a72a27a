// Models of many languages of Hugging Face's transformers: M2M100, NLLB and mBART. A folder with config.json, the
// weights, sentencepiece.bpe.model, and for M2M100 vocab.json.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_huggingface_m2m(const std::string& folder);

// An Error names the file and the key that is missing, or that this program cannot express.
ImportedModel import_huggingface_m2m(const ImportRequest& request);

}  // namespace dragoman::internal
