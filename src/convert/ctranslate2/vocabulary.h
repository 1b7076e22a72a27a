// The tokens of a CTranslate2 folder, and its vmap.txt.
#pragma once

#include <optional>
#include <string>

#include "convert/ctranslate2/model.h"
#include "data/lexicon.h"
#include "text/spm_fields.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

struct TokenTables {
  TokenTable source, target;
};

// From shared_vocabulary, or source_vocabulary and target_vocabulary, .json or .txt.
TokenTables read_token_tables(const std::string& folder, const CTranslate2Settings& settings);

// vmap.txt as a shortlist; nothing if there is none. The candidates of a sequence of source tokens go to its first
// one, so that a sentence has all that CTranslate2 allows it, and perhaps more.
std::optional<Lexicon> read_vmap(const std::string& folder, const TokenTables& tables);

}  // namespace dragoman::internal
