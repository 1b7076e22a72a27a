// EpochStream: the order in which an epoch goes through the pairs of a prepared corpus, before they become batches.
//
// Shard after shard in a shuffled order, each shard's pairs shuffled too: one shard's order is all that is in memory,
// and since each shard is a fair sample of the corpus, the whole is well mixed. With SourceOrder::consecutive that is
// done for one source after the other. A source's weight is how often its pairs come: 2.5 is twice, and for half of
// them, chosen anew in each epoch, once more.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "data/prepare_corpus.h"

namespace dragoman {

struct PairPlace {
  uint32_t shard, record;
};

struct StreamSettings {
  uint64_t seed = 1;
  SourceOrder order = SourceOrder::mixed;
  std::vector<double> weights;  // of each source; empty: 1
};

class EpochStream {
 public:
  // The corpus must outlive it.
  EpochStream(const PreparedCorpus& corpus, const StreamSettings& settings, int64_t epoch);

  bool next(PairPlace& place);

  // Whoever has used up the pairs that came so far says so: shards that are done with let go of their memory.
  void release_left_shards();

 private:
  struct Segment {  // pairs of a shard that are shuffled together: all, or those of one source
    uint32_t shard;
    size_t first_source, last_source;
  };

  void plan_segments();
  void open(const Segment& segment);
  void add_source(uint32_t shard, size_t source);
  uint64_t copies(uint64_t pair, double weight) const;

  const PreparedCorpus& corpus_;
  SourceOrder order_;
  std::vector<double> weights_;
  uint64_t key_;
  std::vector<Segment> segments_;
  size_t next_segment_ = 0;
  std::vector<PairPlace> places_;  // of the segment that is open
  size_t next_place_ = 0;
  std::set<uint32_t> left_shards_;
};

}  // namespace dragoman
