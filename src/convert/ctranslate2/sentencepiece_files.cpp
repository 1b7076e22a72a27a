#include "convert/ctranslate2/sentencepiece_files.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

constexpr const char* how_to =
    "name it with --vocab FILE, or both sides' files with --vocab FILE --target-vocab FILE";

bool is_sentencepiece_name(const fs::path& path) {
  if (path.extension() == ".spm") return true;
  return path.extension() == ".model" && path.filename() != "bpe.model";
}

// Nothing if the folder has none.
std::optional<SentencePieceFiles> sentencepieces_in(const std::string& folder) {
  std::vector<std::string> found;
  if (!fs::is_directory(folder)) return {};
  for (const std::string& entry : entries_of(folder))
    if (is_sentencepiece_name(entry) && fs::is_regular_file(entry)) found.push_back(entry);
  const auto named = [&](const char* name) {
    return std::ranges::find_if(found, [&](const fs::path& path) { return path.filename() == name; });
  };
  const auto source = named("source.spm"), target = named("target.spm");
  if (source != found.end() && target != found.end()) return SentencePieceFiles{*source, *target};
  if (source != found.end() || target != found.end())
    throw Error("{} has only one of source.spm and target.spm: add the other, or {}", folder, how_to);
  if (found.size() == 1) return SentencePieceFiles{found[0], found[0]};
  if (found.empty()) return {};
  throw Error("cannot tell which of the {} SentencePiece files in {} the model uses: {}", found.size(),
              folder, how_to);
}

}  // namespace

SentencePieceFiles find_sentencepiece(const ImportRequest& request, const std::vector<std::string>& folders) {
  if (!request.vocabularies.empty()) return {request.vocabularies.front(), request.vocabularies.back()};
  for (const std::string& folder : folders)
    if (const auto files = sentencepieces_in(folder)) return *files;
  throw Error("{} has no SentencePiece file to split text with: {}", folders.front(), how_to);
}

namespace {

// Files of other models share a few pieces with any.
void check_belongs(const std::string& path, const Vocabulary& plain, const TokenTable& table) {
  const std::unordered_set<std::string_view> tokens(table.tokens.begin(), table.tokens.end());
  int64_t pieces = 0, known = 0;
  for (int32_t id = 0; id < plain.size(); ++id) {
    if (plain.is_special(id) || plain.is_byte(id)) continue;
    ++pieces;
    known += tokens.contains(plain.piece(id)) ? 1 : 0;
  }
  if (2 * known < pieces)
    throw Error("{}: only {} of its {} pieces are among the model's tokens: it belongs to another model; {}",
                path, known, pieces, how_to);
}

std::shared_ptr<const Vocabulary> with_table(const std::string& path, const TokenTable& table) {
  const std::string spm = read_file(path);
  check_belongs(path, Vocabulary(spm, path, BoundaryTokens{.start = -1, .end = -1}), table);
  return std::make_shared<const Vocabulary>(with_token_table(spm, table), path);
}

}  // namespace

Vocabularies with_tables(const SentencePieceFiles& files, const TokenTable& source,
                         const TokenTable& target) {
  const auto of_target = with_table(files.target, target);
  if (files.source == files.target && source == target) return {of_target, of_target};
  return {with_table(files.source, source), of_target};
}

}  // namespace dragoman::internal
