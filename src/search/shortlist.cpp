#include "search/shortlist.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
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

// A set of ids has a bit for each of the vocabulary: the union of many lists is found without sorting.
constexpr int32_t bits = 64;

void add(std::vector<uint64_t>& set, std::span<const int32_t> ids) {
  for (const int32_t id : ids) set[static_cast<size_t>(id / bits)] |= uint64_t{1} << (id % bits);
}

Ids ids_of(std::span<const uint64_t> set) {
  int count = 0;
  for (const uint64_t word : set) count += std::popcount(word);
  Ids ids;
  ids.reserve(static_cast<size_t>(count));
  int32_t first = 0;
  for (const uint64_t word : set) {
    for (uint64_t rest = word; rest != 0; rest &= rest - 1) ids.push_back(first + std::countr_zero(rest));
    first += bits;
  }
  return ids;
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
  Ids always = read("always");
  list.begins_ = read("begins");
  list.words_ = read("words");
  const int64_t words = vocabularies.target->size();
  const bool whole = std::ssize(list.begins_) == vocabularies.source->size() + 1 &&
                     are_places(list.begins_, list.words_) && are_ids(always, words) &&
                     are_ids(list.words_, words);
  if (!whole) throw Error("{} is damaged: create it again", path);
  always.push_back(vocabularies.target->special().end);
  list.always_.resize(static_cast<size_t>(words / bits + 1));
  add(list.always_, always);
  return list;
}

void Shortlist::allow_words_of(const std::string& path, const Vocabulary& target) {
  LineReader lines(path);
  for (std::string_view line; lines.next(line);) {
    if (!is_text(line)) throw Error("{}:{}: not valid UTF-8", path, lines.number());
    add(always_, target.encode(line));
  }
}

std::vector<int32_t> Shortlist::words_for(std::span<const int32_t> source,
                                          std::span<const int32_t> further) const {
  std::vector<uint64_t> words = always_;
  add(words, further);
  for (const int32_t piece : source) {
    const auto at = static_cast<size_t>(piece);
    const auto begin = static_cast<size_t>(begins_[at]), end = static_cast<size_t>(begins_[at + 1]);
    add(words, std::span(words_).subspan(begin, end - begin));
  }
  return ids_of(words);
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
