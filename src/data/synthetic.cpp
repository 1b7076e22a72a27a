#include "data/synthetic.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

// Where each symbol of the target stands in its source. The start symbol stays first.
std::vector<int32_t> places(Synthetic kind, const std::vector<int32_t>& source) {
  std::vector<int32_t> places(source.size());
  std::iota(places.begin(), places.end(), 0);
  const auto symbol = [&](int32_t place) { return source[static_cast<size_t>(place)]; };
  if (kind == Synthetic::reverse) std::reverse(places.begin() + 1, places.end());
  if (kind == Synthetic::sort) std::ranges::stable_sort(places.begin() + 1, places.end(), {}, symbol);
  return places;
}

void add_target(Batch& batch, const std::vector<int32_t>& source, const std::vector<int32_t>& places) {
  std::vector<int32_t> target;
  for (const int32_t place : places) target.push_back(source[static_cast<size_t>(place)]);
  batch.target_input.add(target.data(), target.data() + target.size() - 1);
  batch.targets.insert(batch.targets.end(), target.begin() + 1, target.end());
  batch.links.counts.resize(batch.targets.size(), 1);
  batch.links.sources.insert(batch.links.sources.end(), places.begin() + 1, places.end());
}

}  // namespace

Batch SyntheticTask::batch(uint64_t index) const {
  CHECK(kind != Synthetic::none);
  Random random(mix(mix(seed, "copy"), index));
  Batch batch;
  std::vector<int32_t> sentence(static_cast<size_t>(length));
  for (int64_t i = 0; i < sentences; ++i) {
    for (int32_t& symbol : sentence)
      symbol = 1 + static_cast<int32_t>(random.below(static_cast<uint64_t>(symbols - 1)));
    sentence[0] = 1;
    batch.pairs.push_back(index * static_cast<uint64_t>(sentences) + static_cast<uint64_t>(i));
    batch.source.add(sentence.data(), sentence.data() + length);
    add_target(batch, sentence, places(kind, sentence));
  }
  return batch;
}

std::optional<Batch> SyntheticBatches::next() {
  const auto index = static_cast<uint64_t>(position_.epoch * batches_ + position_.index);
  return skip() ? std::optional(task_.batch(index)) : std::nullopt;
}

bool SyntheticBatches::skip() {
  if (position_.index++ < batches_) return true;
  position_ = {.epoch = position_.epoch + 1};
  return false;
}

}  // namespace dragoman::internal
