// PairLoader: reads the ids of prepared pairs and their links. In each epoch anew, if asked, some pairs get tags and
// subwords are sampled. For one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/epoch_stream.h"
#include "data/linked_tags.h"
#include "text/subword_sampling.h"

namespace dragoman::internal {

// A pair that waits for its batch. Lengths are what the model sees, start and end tokens included.
struct PooledPair {
  PairPlace place;
  int32_t source_length, target_length;

  int32_t larger() const { return std::max(source_length, target_length); }
};

struct LoaderSettings {
  uint64_t seed = 1;
  int32_t source_marks = 1, target_marks = 1;  // tokens around the text that the model sees
  double sampling = 0;
  double tags = 0;           // the share of the pairs that get tags, where the corpus has links
  int64_t max_length = 100;  // in subwords, of a sentence that has been changed
};

class PairLoader {
 public:
  // The corpus must outlive it.
  PairLoader(const PreparedCorpus& corpus, const LoaderSettings& settings);

  const PairRecord& record(PairPlace place) const {
    return corpus_.shards[place.shard].pairs()[place.record];
  }

  PooledPair measure(PairPlace place, int64_t epoch);  // reads no ids of a pair that stays as it is
  void load(PairPlace place, int64_t epoch);

  LinkedPair pair;  // the last one loaded, without start and end tokens; no links where the corpus has none

 private:
  uint64_t key(PairPlace place, int64_t epoch, const char* purpose) const;
  bool gets_tags(PairPlace place, int64_t epoch) const;
  void load_links(PairPlace place);
  void sample_all(PairPlace place, int64_t epoch);
  void sample(const SubwordSampler& sampler, uint64_t key, std::vector<int32_t>& ids) const;

  const PreparedCorpus& corpus_;
  LoaderSettings settings_;
  std::unique_ptr<SubwordSampler> source_sampler_, target_sampler_;
};

}  // namespace dragoman::internal
