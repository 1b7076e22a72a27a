// Encoding a corpus: text to ids to shards, on several threads, in memory that does not grow with the corpus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status_line.h"
#include "data/corpus.h"
#include "data/survey.h"
#include "text/vocabulary.h"

namespace dragoman {

// Of one side of the pairs that were kept.
struct SideStatistics {
  std::vector<int64_t> lengths;  // how many sentences have so many pieces
  int64_t unknown = 0;           // pieces

  void add(const std::vector<int32_t>& ids);
  int64_t percentile(double share) const;  // the length that this share of the sentences does not exceed
};

struct EncodingResult {
  CorpusCounts counts;
  SideStatistics source, target;
  int64_t shards = 0;
};

// Writes shard-000, ... and, where pairs are held out, their text. Pair after pair goes to shard after shard, so that
// each has its share of every source; the threads decide nothing.
inline constexpr uint64_t usual_shard = 500'000;  // pairs
EncodingResult encode_corpus(const DataConfig& data, const Vocabularies& vocabularies, const Survey& survey,
                             const std::string& folder, uint64_t fingerprint, int threads, StatusLine& status,
                             uint64_t shard_pairs = usual_shard);

// Where the text of the held-out pairs lies.
std::string held_out_path(const std::string& folder, const char* side);

}  // namespace dragoman
