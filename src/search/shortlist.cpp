#include "search/shortlist.h"

#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/lines.h"
#include "model/safetensors.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

std::string path_in(const std::string& folder) { return folder + "/shortlist.safetensors"; }

std::string checksum(const Vocabularies& vocabularies) {
  const std::string &source = vocabularies.source->model(), &target = vocabularies.target->model();
  const uint64_t first = XXH3_64bits(source.data(), source.size());
  return fmt::format("{:016x}", XXH3_64bits_withSeed(target.data(), target.size(), first));
}

TensorEntry entry(const char* name, const Ids& values) {
  return {name, Dtype::i32, {std::ssize(values)}, std::as_bytes(std::span(values))};
}

bool are_ids(std::span<const int32_t> ids, int64_t size) {
  return std::ranges::all_of(ids, [&](int32_t id) { return id >= 0 && id < size; });
}

bool are_places(const Ids& begins, const Ids& words) {
  return std::ranges::is_sorted(begins) && begins.front() == 0 && begins.back() == std::ssize(words);
}

}  // namespace

Shortlist Shortlist::read(const std::string& folder, const Vocabularies& vocabularies) {
  const std::string path = path_in(folder);
  if (!std::filesystem::exists(path)) {
    throw Error("{} has no shortlist: dragoman prepare RECIPE --out {} --shortlist 50 makes one", folder,
                folder);
  }
  const SafetensorsFile file = SafetensorsFile::open(path);
  if (file.metadata("vocabularies") != checksum(vocabularies))
    throw Error("{} was made for other vocabularies than this model's: create it again", path);
  file.verify();
  const auto read = [&](const char* name) {
    const auto values = file.integers(name);
    return Ids(values.begin(), values.end());
  };
  Shortlist list;
  list.end_ = vocabularies.target->special().end;
  list.always_ = read("always");
  list.begins_ = read("begins");
  list.words_ = read("words");
  const int64_t words = vocabularies.target->size();
  const bool whole = std::ssize(list.begins_) == vocabularies.source->size() + 1 &&
                     are_places(list.begins_, list.words_) && are_ids(list.always_, words) &&
                     are_ids(list.words_, words);
  if (!whole) throw Error("{} is damaged: create it again", path);
  return list;
}

void Shortlist::allow_words_of(const std::string& path, const Vocabulary& target) {
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (!is_text(line)) throw Error("{}:{}: not valid UTF-8", path, lines.number());
    const Ids ids = target.encode(line);
    always_.insert(always_.end(), ids.begin(), ids.end());
  }
}

std::vector<int32_t> Shortlist::words_for(std::span<const int32_t> source,
                                          std::span<const int32_t> further) const {
  Ids words = always_;
  words.push_back(end_);
  words.insert(words.end(), further.begin(), further.end());
  for (const int32_t piece : source) {
    const auto at = static_cast<size_t>(piece);
    words.insert(words.end(), words_.begin() + begins_[at], words_.begin() + begins_[at + 1]);
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

void write_shortlist(const std::string& folder, const Lexicon& lexicon, const Vocabularies& vocabularies) {
  Ids begins = {0}, words;
  for (const Ids& translations : lexicon.translations) {
    words.insert(words.end(), translations.begin(), translations.end());
    begins.push_back(static_cast<int32_t>(words.size()));
  }
  const std::vector<TensorEntry> entries = {entry("always", lexicon.frequent), entry("begins", begins),
                                            entry("words", words)};
  write_safetensors(path_in(folder), {{"vocabularies", checksum(vocabularies)}}, entries);
}

}  // namespace dragoman::internal
