#include "train/random_words.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "nn/positions.h"

namespace dragoman::internal {

Batch batch_of_random_words(const ModelConfig& model, int64_t sentences, int64_t length) {
  if (has_fixed_length(model.positions)) length = std::min(length, model.max_positions);
  Random random(1);
  const auto words = [&](int64_t vocabulary) {
    std::vector<int32_t> ids(static_cast<size_t>(length));
    for (int32_t& id : ids) id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
    return ids;
  };
  Batch batch;
  for (int64_t pair = 0; pair < sentences; ++pair) {
    const auto source = has_encoder(model) ? words(model.source_vocabulary) : std::vector<int32_t>(),
               target = words(model.target_vocabulary);
    batch.pairs.push_back(static_cast<uint64_t>(pair));
    batch.source.add(source.data(), source.data() + source.size());
    batch.target_input.add(target.data(), target.data() + target.size());
    batch.targets.insert(batch.targets.end(), target.begin(), target.end());
  }
  return batch;
}

}  // namespace dragoman::internal
