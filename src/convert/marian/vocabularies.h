// The vocabularies of Marian's models: .spm files, or lists of tokens with the .spm files that split text.
#pragma once

#include "convert/marian/folder.h"
#include "model/config.h"

namespace dragoman::internal {

// With the ids that the model's embeddings have.
Vocabularies read_marian_vocabularies(const MarianFolder& folder, const ModelConfig& config);

}  // namespace dragoman::internal
