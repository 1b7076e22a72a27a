// Marian models of Hugging Face's transformers, in which the OPUS-MT models are published: a folder with config.json,
// the weights in model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm.
#pragma once

#include <string>

#include "convert/imported_model.h"

namespace dragoman::internal {

bool is_huggingface_marian(const std::string& folder);

// An Error names the file and the key that is missing, or that this program cannot express.
ImportedModel import_huggingface_marian(const ImportRequest& request);

}  // namespace dragoman::internal
