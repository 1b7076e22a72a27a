#include "text/synthetic.h"

#include "base/random.h"

namespace dragoman {

Batch CopyTask::batch(uint64_t index) const {
  Random random(mix(mix(seed, "copy"), index));
  Batch batch;
  std::vector<int32_t> sentence(static_cast<size_t>(length));
  for (int64_t i = 0; i < sentences; ++i) {
    for (int32_t& symbol : sentence) symbol = 1 + static_cast<int32_t>(random.below(static_cast<uint64_t>(symbols - 1)));
    sentence[0] = 1;
    const int32_t* begin = sentence.data();
    const int32_t* end = begin + length;
    batch.pairs.push_back(index * static_cast<uint64_t>(sentences) + static_cast<uint64_t>(i));
    batch.source.add(begin, end);
    batch.target_input.add(begin, end - 1);
    batch.targets.insert(batch.targets.end(), begin + 1, end);
  }
  return batch;
}

}  // namespace dragoman
