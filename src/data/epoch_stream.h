// EpochStream: the order in which an epoch goes through the pairs of a prepared corpus, before they become batches.
//
// Shards in random order, and the pairs of each in random order: only one shard's order is in memory, and as each
// shard is a fair sample of the corpus, the whole is well mixed. SourceOrder::consecutive does that for one source
// after another. A source's weight is how often its pairs occur: 2.5 is twice, and a third time for a random half of
// them, drawn again in each epoch. Sources share the draw: of those whose weights add up to 1, each with a translation
// of line 7, say, an epoch has line 7 exactly once.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "data/prepare_corpus.h"

namespace dragoman::internal {

struct PairPlace {
  uint32_t shard, record;
};

struct StreamSettings {
  uint64_t seed = 1;
  SourceOrder order = SourceOrder::mixed;
  std::vector<double> weights;  // one per source; empty: all 1
};

class EpochStream {
 public:
  // The corpus must outlive it.
  EpochStream(const PreparedCorpus& corpus, const StreamSettings& settings, int64_t epoch);

  bool next(PairPlace& place);

  // Releases the memory of finished shards. To be called once the pairs returned so far are no longer read.
  void release_finished_shards();

 private:
  struct Segment {  // pairs of a shard that are shuffled together: all of them, or those of one source
    uint32_t shard;
    size_t first_source, last_source;
  };

  void plan_segments();
  void open(const Segment& segment);
  void add_source(uint32_t shard, size_t source);
  uint64_t copies(size_t source, uint64_t pair) const;

  const PreparedCorpus& corpus_;
  SourceOrder order_;
  std::vector<double> weights_;
  std::vector<double> shares_;  // before each source: the sum of what weights have beyond whole numbers
  uint64_t key_;
  std::vector<Segment> segments_;
  size_t next_segment_ = 0;
  std::vector<PairPlace> places_;  // of the current segment
  size_t next_place_ = 0;
  std::set<uint32_t> finished_shards_;
};

}  // namespace dragoman::internal
