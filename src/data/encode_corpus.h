// Encodes a corpus: text to ids to shards, on several threads, in memory independent of the corpus's size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/preparation.h"
#include "data/survey.h"
#include "text/vocabulary.h"

namespace dragoman::internal {

// Of one side of the kept pairs.
struct SideStatistics {
  int32_t unknown_id;
  std::vector<int64_t> lengths = {};  // lengths[n]: sentences of n pieces
  int64_t unknown = 0;                // pieces

  void add(const std::vector<int32_t>& ids);
  int64_t percentile(double share) const;  // the length that this share of the sentences does not exceed
};

struct EncodingResult {
  CorpusCounts counts;
  SideStatistics source, target;
  int64_t shards = 0;
  int64_t with_terms = 0, with_noise = 0;  // pairs
  // Of the kept pairs' sources, some are looked at: how many, and how many of these have several sentences.
  int64_t looked_at = 0, several_sentences = 0;
};

// Writes shard-000, ... and the text of held-out pairs. Pairs are dealt to the shards in turn, so that each has its
// share of every source, whatever the number of threads.
inline constexpr uint64_t default_shard_pairs = 500'000;
EncodingResult encode_corpus(const DataConfig& data, const Vocabularies& vocabularies, const Survey& survey,
                             const std::string& folder, uint64_t fingerprint, int threads, Preparation& work,
                             uint64_t shard_pairs = default_shard_pairs);

// The path of the held-out pairs' text.
std::string held_out_path(const std::string& folder, const char* side);

}  // namespace dragoman::internal
