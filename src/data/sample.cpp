#include "data/sample.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/files.h"

namespace dragoman::internal {
namespace {

// Nothing where a token is unknown, or the text cannot stand in a column.
std::optional<std::string> decoded_column(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  if (std::ranges::count(ids, vocabulary.special().unknown) > 0) return {};
  std::string text = vocabulary.decode(ids);
  if (text.empty() || text.find_first_of("\t\r\n") != text.npos) return {};
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

}  // namespace

std::string sample_path(const std::string& model_folder) { return model_folder + "/sample.tsv"; }

void write_sample(const PreparedCorpus& corpus, int64_t pairs, const std::string& model_folder) {
  const std::string path = sample_path(model_folder);
  if (pairs == 0) {
    std::filesystem::remove(path);
    return;
  }
  size_t all = 0;
  for (const Shard& shard : corpus.shards) all += shard.pairs().size();
  const std::string lines = sampled_lines(corpus, std::max<size_t>(all / static_cast<size_t>(pairs), 1));
  if (!std::filesystem::exists(path) || read_file(path) != lines) write_file(path, {lines});
}

}  // namespace dragoman::internal
