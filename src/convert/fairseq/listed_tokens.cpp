#include "convert/fairseq/listed_tokens.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

bool is_pieces_file(const fs::path& path) {
  return path.extension() == ".model" || path.extension() == ".spm";
}

// One for both sides, or source.spm and target.spm.
std::vector<std::string> pieces_beside(const std::string& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder))
    if (entry.is_regular_file() && is_pieces_file(entry.path())) found.push_back(entry.path().string());
  std::ranges::sort(found);
  const bool both_sides =
      found.size() == 2 && fs::path(found[0]).stem() == "source" && fs::path(found[1]).stem() == "target";
  if (found.size() > 1 && !both_sides) return {};
  return found;
}

int32_t id_of(const std::vector<std::string>& tokens, const std::string& token) {
  const auto place = std::ranges::find(tokens, token);
  return place == tokens.end() ? -1 : static_cast<int32_t>(place - tokens.begin());
}

}  // namespace

VocabularyFiles vocabulary_files(const ImportRequest& request, const std::string& folder) {
  VocabularyFiles files;
  for (const std::string& file : request.vocabularies)
    (fs::path(file).extension() == ".txt" ? files.lists : files.pieces).push_back(file);
  if (files.pieces.empty()) files.pieces = pieces_beside(folder);
  return files;
}

const std::string& pieces_of_side(const VocabularyFiles& files, const std::string& model, size_t side) {
  if (files.pieces.empty()) {
    throw Error(
        "{} does not specify a tokenizer: name the SentencePiece file with --vocab (BPE files of subword-nmt "
        "are not supported)",
        model);
  }
  return files.pieces[std::min(side, files.pieces.size() - 1)];
}

TokenTable token_table(std::vector<std::string> tokens, const TokenNames& names, const std::string& path) {
  TokenTable table = {.unknown = id_of(tokens, names.unknown),
                      .start = id_of(tokens, names.start),
                      .end = id_of(tokens, names.end)};
  for (const auto& [name, id] :
       {std::pair(names.unknown, table.unknown), {names.start, table.start}, {names.end, table.end}})
    if (id < 0) throw Error("{}: the vocabulary has no token {}", path, name);
  for (const std::string& name : names.suppressed)
    if (const int32_t id = id_of(tokens, name); id >= 0) table.suppressed.push_back(id);
  table.tokens = std::move(tokens);
  return table;
}

Vocabularies listed_vocabularies(const TokenTable& source, const TokenTable& target,
                                 const VocabularyFiles& files, const std::string& model) {
  const auto vocabulary = [&](const TokenTable& table, const std::string& path) {
    return std::make_shared<const Vocabulary>(with_token_table(read_file(path), table), path);
  };
  const std::string &of_source = pieces_of_side(files, model, 0),
                    &of_target = pieces_of_side(files, model, 1);
  const auto first = vocabulary(source, of_source);
  if (source == target && of_source == of_target) return {first, first};
  return {first, vocabulary(target, of_target)};
}

void check_rows(int64_t rows, const TokenTable& table, const std::string& tensor, const std::string& path) {
  if (rows == std::ssize(table.tokens)) return;
  throw Error("{}: {} has {} rows, but the vocabulary has {} tokens", path, tensor, rows,
              table.tokens.size());
}

}  // namespace dragoman::internal
