// Fields of a vocabulary's .spm file that are not SentencePiece's. Its format has room for such fields of others, and
// its own programs skip them: so what they say goes wherever the vocabulary goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/languages.h"
#include "text/vocabulary_config.h"

namespace dragoman::internal {

// --- The tokenizer that a vocabulary of words was learned with.

// The file's bytes with the field; the same bytes for WordTokenizer::none.
std::string with_tokenizer(std::string model, WordTokenizer tokenizer);

// WordTokenizer::none if there is no field. Throws an Error, which begins with `name`, for an unknown tokenizer.
WordTokenizer tokenizer_of(std::string_view model, const std::string& name);

// --- The token table of a vocabulary that comes from another system: ids of its own for the pieces that SentencePiece
// splits a text into. Such systems look pieces up as strings, in one list for both languages perhaps: a character that
// one side's .spm file does not know may be a token of the list.

struct TokenTable {
  std::vector<std::string> tokens;  // by id
  int32_t unknown = -1, start = -1, end = -1;
  std::vector<int32_t> suppressed = {};  // tokens that are never output, such as <pad>
  // On the target side: every output begins with these tokens, and its text does not have them.
  std::vector<int32_t> forced_prefix = {};
  Languages languages = {};

  bool operator==(const TokenTable&) const = default;
};

// The .spm file with the table.
std::string with_token_table(std::string model, const TokenTable& table);

// The file as it was before.
std::string without_token_table(std::string model);

// Nothing where it has none. Throws an Error that starts with `name`.
std::optional<TokenTable> token_table_of(std::string_view model, const std::string& name);

}  // namespace dragoman::internal
