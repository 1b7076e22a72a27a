#include "convert/marian/written_vocabularies.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "text/spm_fields.h"

namespace dragoman::internal {

std::optional<std::string> spm_with_its_ids(const Vocabulary& vocabulary) {
  std::string bytes = without_token_table(vocabulary.model());
  const Vocabulary plain(bytes, "the vocabulary", BoundaryTokens{.start = -1, .end = -1});
  if (plain.size() > vocabulary.size()) return {};
  for (int32_t id = 0; id < plain.size(); ++id)
    if (plain.piece(id) != vocabulary.piece(id)) return {};
  if (plain.special().unknown != vocabulary.special().unknown) return {};
  return bytes;
}

// A string in JSON is one in YAML.
std::string list_of_tokens(const Vocabulary& vocabulary) {
  std::string text;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    text += fmt::format("{}: {}\n", nlohmann::json(vocabulary.piece(id)).dump(), id);
  return text;
}

}  // namespace dragoman::internal
