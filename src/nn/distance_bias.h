// What attention adds to the scores of a query's keys by their distance, where the embeddings have no positions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ops/ops.h"

namespace dragoman::internal {

// The bucket of a key `distance` tokens after the query, as T5 counts them (Raffel et al., 2020): near distances have
// one each, farther ones share buckets that grow until max_distance. Without `both_directions` all that lies after
// the query is in the bucket of the query itself.
int64_t t5_bucket(int64_t distance, bool both_directions, int64_t buckets, int64_t max_distance);

// The factors of distances in ALiBi (Press et al., 2022), one for each head.
std::vector<double> alibi_slopes(int64_t heads);

// The bias of a stack's attentions: none, ALiBi's or T5's.
class DistanceBias {
 public:
  DistanceBias() = default;
  static DistanceBias alibi(int64_t heads);
  // `weights`: of all buckets for each head.
  static DistanceBias t5(const Tensor& weights, bool both_directions, int64_t max_distance);

  bool learns() const { return static_cast<bool>(weights_); }
  // For spans of up to this many keys: as AttentionOptions has it, or nothing. T5's depends on the keys alone, not on
  // what was asked for before. This object must outlive the tape.
  Tensor rows(Pass&, int64_t keys);

 private:
  const Array<int32_t>& buckets(Pool&, int64_t reach);
  Tensor falling(Pool&, int64_t reach) const;

  int64_t heads_ = 0;  // ALiBi's
  Tensor slopes_;      // times distances, as far as they were needed
  Tensor weights_;     // T5's
  bool both_directions_ = false;
  int64_t max_distance_ = 0;
  std::map<int64_t, Array<int32_t>> buckets_;  // of each reach that was needed
};

}  // namespace dragoman::internal
