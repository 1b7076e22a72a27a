// What a prepared corpus has, read from its shards.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "data/prepare_corpus.h"

namespace dragoman::internal {

struct Encoded {
  std::vector<int32_t> source, target;
};

// Every pair of the shards, by its index.
inline std::map<uint64_t, Encoded> pairs_of(const PreparedCorpus& corpus) {
  std::map<uint64_t, Encoded> pairs;
  for (const Shard& shard : corpus.shards) {
    EXPECT_NO_THROW(shard.verify());
    for (const PairRecord& record : shard.pairs()) {
      EXPECT_EQ(pairs.count(record.pair), 0U);
      Encoded& pair = pairs[record.pair];
      shard.read(record, pair.source, pair.target);
    }
  }
  return pairs;
}

}  // namespace dragoman::internal
