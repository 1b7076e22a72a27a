// Vocabularies of research toolkits: a list of tokens, which is part of the model, and a SentencePiece file with which
// the training text was split, which is not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/imported_model.h"
#include "text/spm_fields.h"

namespace dragoman::internal {

// The files that a user named, or that lie beside the model: for the source and for the target, which may be one.
struct VocabularyFiles {
  std::vector<std::string> pieces;  // SentencePiece's
  std::vector<std::string> lists;   // .txt files that a user named
};
VocabularyFiles vocabulary_files(const ImportRequest& request, const std::string& folder);

// The SentencePiece file of this side, 0 or 1. An Error says how to name one.
const std::string& pieces_of_side(const VocabularyFiles& files, const std::string& model, size_t side);

// A vocabulary with these ids: the tokens of this name are its marks, as far as it has them.
struct TokenNames {
  const char *unknown, *start, *end;
  std::vector<std::string> suppressed;
};
TokenTable token_table(std::vector<std::string> tokens, const TokenNames& names, const std::string& path);

// One vocabulary for both sides where they are the same.
Vocabularies listed_vocabularies(const TokenTable& source, const TokenTable& target,
                                 const VocabularyFiles& files, const std::string& model);

// An Error unless the embedding has a row for each token.
void check_rows(int64_t rows, const TokenTable& table, const std::string& tensor, const std::string& path);

}  // namespace dragoman::internal
