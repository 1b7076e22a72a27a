#include "data/sample.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.h"

namespace dragoman::internal {
namespace {

constexpr int64_t most_unseen = 1000;

bool is_column(const std::string& text) { return !text.empty() && text.find_first_of("\t\r\n") == text.npos; }

// Nothing where a token is unknown or a mark around a term, or the text cannot stand in a column.
std::optional<std::string> decoded_column(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  if (std::ranges::any_of(ids, [&](int32_t id) { return vocabulary.is_special(id); })) return {};
  std::string text = vocabulary.decode(ids);
  if (!is_column(text)) return {};
  return text;
}

// Pairs first, first + every, first + 2 every, … over all shards.
std::string sampled_lines(const PreparedCorpus& corpus, size_t every) {
  const auto& [source_words, target_words] = corpus.vocabularies;
  std::string lines;
  std::vector<int32_t> source, target;
  size_t next = every / 2, begin = 0;
  for (const Shard& shard : corpus.shards) {
    for (; next < begin + shard.pairs().size(); next += every) {
      shard.read(shard.pairs()[next - begin], source, target);
      const auto from = decoded_column(*source_words, source), to = decoded_column(*target_words, target);
      if (from && to) lines += *from + "\t" + *to + "\n";
    }
    begin += shard.pairs().size();
  }
  return lines;
}

void write_if_changed(const std::string& path, const std::string& text) {
  if (!std::filesystem::exists(path) || read_file(path) != text) write_file(path, {text});
}

}  // namespace

void keep_at_most(std::vector<TextPair>& pairs, int64_t count) {
  const auto all = std::ssize(pairs);
  if (all <= count) return;
  for (int64_t i = 0; i < count; ++i)
    std::swap(pairs[static_cast<size_t>(i)], pairs[static_cast<size_t>(i * all / count)]);
  pairs.resize(static_cast<size_t>(count));
}

std::string sample_path(const std::string& model_folder) { return model_folder + "/sample.tsv"; }
std::string unseen_path(const std::string& model_folder) { return model_folder + "/unseen.tsv"; }

void write_sample(const PreparedCorpus& corpus, int64_t pairs, const std::string& model_folder) {
  if (pairs == 0) {
    std::filesystem::remove(sample_path(model_folder));
    return;
  }
  size_t all = 0;
  for (const Shard& shard : corpus.shards) all += shard.pairs().size();
  const auto most = static_cast<size_t>(pairs);
  const size_t every = std::max<size_t>(all / most + (all % most != 0), 1);
  write_if_changed(sample_path(model_folder), sampled_lines(corpus, every));
}

void write_unseen(std::vector<TextPair> validation, const std::string& model_folder) {
  std::erase_if(validation,
                [](const TextPair& pair) { return !is_column(pair.source) || !is_column(pair.target); });
  if (validation.empty()) {
    std::filesystem::remove(unseen_path(model_folder));
    return;
  }
  keep_at_most(validation, most_unseen);
  std::string lines;
  for (const TextPair& pair : validation) lines += pair.source + "\t" + pair.target + "\n";
  write_if_changed(unseen_path(model_folder), lines);
}

}  // namespace dragoman::internal
