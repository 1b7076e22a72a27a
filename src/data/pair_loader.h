// PairLoader: the ids of prepared pairs, cut into other subwords each epoch if that is asked for. For one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/batches.h"
#include "data/epoch_stream.h"

namespace dragoman {

// A pair that waits for its batch. Lengths are those that the model sees, marks included.
struct PooledPair {
  PairPlace place;
  int32_t source_length, target_length;

  int32_t larger() const { return std::max(source_length, target_length); }
};

class PairLoader {
 public:
  // Both must outlive it.
  PairLoader(const PreparedCorpus& corpus, const BatchSettings& settings);

  const PairRecord& record(PairPlace place) const {
    return corpus_.shards[place.shard].pairs()[place.record];
  }

  PooledPair measure(PairPlace place, int64_t epoch);  // reads no id, unless subwords are sampled
  void load(PairPlace place, int64_t epoch);

  std::vector<int32_t> source, target;  // of the pair that was loaded last, without marks

 private:
  void sample(const SubwordSampler& sampler, uint64_t key, std::vector<int32_t>& ids) const;

  const PreparedCorpus& corpus_;
  const BatchSettings& settings_;
  std::unique_ptr<SubwordSampler> source_sampler_, target_sampler_;
};

}  // namespace dragoman
