#include "data/epoch_stream.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

// The first record, of those sorted by pair, that is not before this pair.
size_t first_record(std::span<const PairRecord> records, uint64_t pair) {
  const auto at =
      std::lower_bound(records.begin(), records.end(), pair,
                       [](const PairRecord& record, uint64_t value) { return record.pair < value; });
  return static_cast<size_t>(at - records.begin());
}

}  // namespace

EpochStream::EpochStream(const PreparedCorpus& corpus, const StreamSettings& settings, int64_t epoch)
    : corpus_(corpus),
      order_(settings.order),
      weights_(settings.weights),
      key_(mix(mix(settings.seed, "epoch"), static_cast<uint64_t>(epoch))) {
  const size_t sources = corpus.source_begins.size() - 1;
  if (weights_.empty()) weights_.assign(sources, 1.0);
  CHECK(weights_.size() == sources, "{} weights for {} sources", weights_.size(), sources);
  shares_ = {0};
  for (const double weight : weights_) shares_.push_back(shares_.back() + weight - std::floor(weight));
  plan_segments();
}

void EpochStream::plan_segments() {
  std::vector<uint32_t> shards(corpus_.shards.size());
  for (size_t i = 0; i < shards.size(); ++i) shards[i] = static_cast<uint32_t>(i);
  shuffle(shards, mix(key_, "shards"));
  const size_t sources = weights_.size();
  const size_t parts = order_ == SourceOrder::mixed ? 1 : sources;
  for (size_t part = 0; part < parts; ++part) {
    for (const uint32_t shard : shards) {
      segments_.push_back({shard, part, order_ == SourceOrder::mixed ? sources : part + 1});
    }
  }
}

// Besides the whole ones: where the shares of the sources, laid end to end, pass a whole number beyond the line's draw.
uint64_t EpochStream::copies(size_t source, uint64_t pair) const {
  const uint64_t line = pair - corpus_.source_begins[source];
  const double draw = static_cast<double>(mix(mix(key_, "weight"), line) >> 11) * 0x1p-53;
  const double further = std::floor(shares_[source + 1] + draw) - std::floor(shares_[source] + draw);
  return static_cast<uint64_t>(std::floor(weights_[source]) + further);
}

void EpochStream::add_source(uint32_t shard, size_t source) {
  const auto records = corpus_.shards[shard].pairs();
  const size_t end = first_record(records, corpus_.source_begins[source + 1]);
  for (size_t i = first_record(records, corpus_.source_begins[source]); i < end; ++i) {
    const uint64_t times = weights_[source] == 1 ? 1 : copies(source, records[i].pair);
    places_.insert(places_.end(), times, {shard, static_cast<uint32_t>(i)});
  }
}

void EpochStream::open(const Segment& segment) {
  places_.clear();
  next_place_ = 0;
  for (size_t source = segment.first_source; source < segment.last_source; ++source)
    add_source(segment.shard, source);
  shuffle(places_, mix(mix(mix(key_, "pairs"), segment.shard), segment.first_source));
}

void EpochStream::release_finished_shards() {
  for (const uint32_t shard : finished_shards_) {
    corpus_.shards[shard].release();
    if (!corpus_.links.empty()) corpus_.links[shard].release();
  }
  finished_shards_.clear();
}

bool EpochStream::next(PairPlace& place) {
  while (next_place_ == places_.size()) {
    if (next_segment_ > 0) finished_shards_.insert(segments_[next_segment_ - 1].shard);
    if (next_segment_ == segments_.size()) return false;
    open(segments_[next_segment_++]);
  }
  place = places_[next_place_++];
  return true;
}

}  // namespace dragoman::internal
