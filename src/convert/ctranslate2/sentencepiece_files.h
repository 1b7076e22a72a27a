// The SentencePiece files of a model, which need not be in its folder.
#pragma once

#include <string>
#include <vector>

#include "convert/imported_model.h"
#include "text/spm_fields.h"

namespace dragoman::internal {

struct SentencePieceFiles {
  std::string source, target;  // paths; equal where one file serves both sides
};

// Those of the request; else those of the first folder that has some, source.spm and target.spm, or one .spm or .model
// file for both sides. An Error says how to name them.
SentencePieceFiles find_sentencepiece(const ImportRequest& request, const std::vector<std::string>& folders);

// The vocabularies of these files with a table of tokens each; one vocabulary if files and tables are the same. An
// Error if most of a file's pieces are missing from its table, so that the file must belong to another model.
Vocabularies with_tables(const SentencePieceFiles& files, const TokenTable& source, const TokenTable& target);

}  // namespace dragoman::internal
