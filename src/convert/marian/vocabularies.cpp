#include "convert/marian/vocabularies.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"
#include "convert/files/packed.h"
#include "convert/files/yaml.h"
#include "text/spm_fields.h"

namespace dragoman::internal {
namespace {

constexpr uint64_t max_vocabulary_bytes = uint64_t{256} << 20;

// "token": id, one per line. A model with fewer rows than the list has tokens does not know the last ones.
std::vector<std::string> tokens_of_list(const std::string& path, int64_t rows) {
  const nlohmann::json list = parse_yaml(read_packed(path, max_vocabulary_bytes), path);
  if (!list.is_object()) throw Error("{} is not a mapping from tokens to ids", path);
  std::vector<std::string> tokens(static_cast<size_t>(rows));
  for (const auto& [token, id] : list.items()) {
    if (!id.is_number_integer() || id < 0)
      throw Error("{}: {} has the invalid id {}", path, in_quotes(token), in_quotes(id.dump()));
    if (id >= rows) continue;
    std::string& place = tokens[id.get<size_t>()];
    if (!place.empty())
      throw Error("{}: {} and {} have the same id {}", path, in_quotes(place), in_quotes(token),
                  id.get<size_t>());
    place = token;
  }
  return tokens;
}

std::vector<std::string> tokens_of_spm(const std::string& model, const std::string& path, int64_t rows) {
  const Vocabulary vocabulary(model, path);
  std::vector<std::string> tokens(static_cast<size_t>(rows));
  for (int32_t id = 0; id < std::min(rows, vocabulary.size()); ++id)
    tokens[static_cast<size_t>(id)] = vocabulary.piece(id);
  return tokens;
}

// Some models have rows without a token, up to a round number. They were not trained, and are not output.
void suppress_unused(TokenTable& table) {
  for (size_t id = 0; id < table.tokens.size(); ++id) {
    if (!table.tokens[id].empty()) continue;
    table.tokens[id] = fmt::format("<unused {}>", id);
    table.suppressed.push_back(static_cast<int32_t>(id));
  }
}

// "eos" and "UNK" are Nematus's.
int32_t id_of(const std::vector<std::string>& tokens, const std::string& path,
              std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = std::ranges::find(tokens, name);
    if (found != tokens.end()) return static_cast<int32_t>(found - tokens.begin());
  }
  throw Error("{} has no token {}", path, *names.begin());
}

std::shared_ptr<const Vocabulary> read_vocabulary(const MarianVocabulary& files, int64_t rows) {
  const std::string pieces = read_packed(files.pieces, max_vocabulary_bytes);
  TokenTable table;
  table.tokens = is_spm(files.tokens)
                     ? tokens_of_spm(read_packed(files.tokens, max_vocabulary_bytes), files.tokens, rows)
                     : tokens_of_list(files.tokens, rows);
  table.unknown = id_of(table.tokens, files.tokens, {"<unk>", "UNK"});
  table.end = id_of(table.tokens, files.tokens, {"</s>", "eos"});
  table.start = table.end;  // not read: the decoder begins with zeros
  table.suppressed = {table.unknown};
  suppress_unused(table);
  return std::make_shared<const Vocabulary>(with_token_table(pieces, table), files.pieces);
}

}  // namespace

Vocabularies read_marian_vocabularies(const MarianFolder& folder, const ModelConfig& config) {
  const auto& [source, target] = folder.vocabularies;
  const auto first = read_vocabulary(source, config.source_vocabulary);
  if (source == target && config.source_vocabulary == config.target_vocabulary) return {first, first};
  return {first, read_vocabulary(target, config.target_vocabulary)};
}

}  // namespace dragoman::internal
