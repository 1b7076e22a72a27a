// The token table of a vocabulary that comes from another system: ids of its own for the pieces that SentencePiece
// splits a text into. Such systems look pieces up as strings, in one list for both languages perhaps: a character that
// one side's .spm file does not know may be a token of the list.
//
// A .spm file keeps its table in a field that SentencePiece does not read, so that file and table cannot be separated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/languages.h"

namespace dragoman::internal {

struct TokenTable {
  std::vector<std::string> tokens;  // by id
  int32_t unknown = -1, start = -1, end = -1;
  std::vector<int32_t> never = {};  // tokens that no output has, such as <pad>
  std::vector<int32_t> forced =
      {};  // on the target side: every output begins with them, and its text does not
  Languages languages = {};

  bool operator==(const TokenTable&) const = default;
};

// The .spm file with the table.
std::string with_token_table(std::string model, const TokenTable& table);

// Nothing where it has none. Throws ProtobufDamage or an Error that starts with `name`.
std::optional<TokenTable> token_table_of(std::string_view model, const std::string& name);

}  // namespace dragoman::internal
