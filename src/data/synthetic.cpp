#include "data/synthetic.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/random.h"

namespace dragoman::internal {
namespace {

// Turns a source into its target. The start symbol stays first.
void transform(Synthetic kind, std::vector<int32_t>& sentence) {
  if (kind == Synthetic::reverse) std::reverse(sentence.begin() + 1, sentence.end());
  if (kind == Synthetic::sort) std::sort(sentence.begin() + 1, sentence.end());
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
    transform(kind, sentence);
    batch.target_input.add(sentence.data(), sentence.data() + length - 1);
    batch.targets.insert(batch.targets.end(), sentence.begin() + 1, sentence.end());
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
