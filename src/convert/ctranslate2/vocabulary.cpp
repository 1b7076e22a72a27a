#include "convert/ctranslate2/vocabulary.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/lines.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> tokens_of_json(const std::string& path) {
  try {
    return parse_json(read_file(path)).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not a JSON list of tokens: {}", path, reason_of(error));
  }
}

// A carriage return belongs to a token, unless all have one.
std::vector<std::string> tokens_of_lines(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<std::string> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    tokens.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (std::ranges::all_of(tokens, [](const std::string& token) { return token.ends_with('\r'); }))
    for (std::string& token : tokens) token.pop_back();
  return tokens;
}

std::string path_of(const std::string& folder, const std::string& side) {
  for (const char* extension : {".json", ".txt"}) {
    const std::string path = folder + "/" + side + "_vocabulary" + extension;
    if (fs::exists(path)) return path;
  }
  return "";
}

TokenTable read_table(const std::string& path, const CTranslate2Settings& settings) {
  TokenTable table;
  table.tokens = path.ends_with(".json") ? tokens_of_json(path) : tokens_of_lines(path);
  for (size_t i = 0; i < table.tokens.size(); ++i)
    if (!is_text(table.tokens[i])) throw Error("{}: token {} is not valid UTF-8", path, i);
  const auto find = [&](const std::string& token) {
    return static_cast<int32_t>(std::ranges::find(table.tokens, token) - table.tokens.begin());
  };
  // Like CTranslate2, which adds the unknown token if there is none, and uses it for any that is missing.
  table.unknown = find(settings.unknown);
  if (table.unknown == std::ssize(table.tokens)) table.tokens.push_back(settings.unknown);
  table.end = find(settings.end);
  if (table.end == std::ssize(table.tokens)) throw Error("{} has no token {}", path, settings.end);
  table.start = find(*settings.decoder_start);
  if (table.start == std::ssize(table.tokens)) table.start = table.unknown;
  return table;
}

// --- vmap.txt ---------------------------------------------------------------------------------------

class Ids {
 public:
  explicit Ids(const TokenTable& table) {
    for (size_t i = 0; i < table.tokens.size(); ++i) ids_.emplace(table.tokens[i], static_cast<int32_t>(i));
  }
  std::optional<int32_t> find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found != ids_.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  std::unordered_map<std::string_view, int32_t> ids_;
};

void add_words(const Ids& ids, std::string_view words, std::vector<int32_t>& to) {
  while (!words.empty()) {
    const size_t size = std::min(words.find(' '), words.size());
    if (const auto id = ids.find(words.substr(0, size))) to.push_back(*id);
    words.remove_prefix(std::min(size + 1, words.size()));
  }
}

void sort_unique(std::vector<int32_t>& ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

TokenTables read_token_tables(const std::string& folder, const CTranslate2Settings& settings) {
  if (const std::string shared = path_of(folder, "shared"); !shared.empty()) {
    const TokenTable table = read_table(shared, settings);
    return {table, table};
  }
  const std::string source = path_of(folder, "source"), target = path_of(folder, "target");
  if (source.empty() && !path_of(folder, "source_1").empty())
    throw Error("{} has several source vocabularies: source factors are not supported", folder);
  if (source.empty() || target.empty())
    throw Error(
        "{} has neither shared_vocabulary nor both source_vocabulary and target_vocabulary, .json or .txt",
        folder);
  return {read_table(source, settings), read_table(target, settings)};
}

std::optional<Lexicon> read_vmap(const std::string& folder, const TokenTables& tables) {
  const std::string path = folder + "/vmap.txt";
  if (!fs::exists(path)) return {};
  const Ids source(tables.source), target(tables.target);
  Lexicon lexicon;
  lexicon.translations.resize(tables.source.tokens.size());
  lexicon.frequent = {tables.target.unknown, tables.target.start, tables.target.end};
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    const size_t tab = line.find('\t');
    if (tab == line.npos)
      throw Error("{}:{}: there is no tab between source and target", path, lines.number());
    const std::string_view first = line.substr(0, std::min(tab, line.find(' ')));
    const auto id = source.find(first);
    if (tab == 0) {
      add_words(target, line.substr(tab + 1), lexicon.frequent);
    } else if (id) {
      add_words(target, line.substr(tab + 1), lexicon.translations[static_cast<size_t>(*id)]);
    }
  }
  for (std::vector<int32_t>& words : lexicon.translations) sort_unique(words);
  sort_unique(lexicon.frequent);
  return lexicon;
}

}  // namespace dragoman::internal
