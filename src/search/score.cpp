#include "search/score.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {

PackedSide shifted(const PackedSide& targets, const StartTokens& start) {
  PackedSide read;
  const int32_t* next = targets.ids.data();
  for (const int32_t length : targets.lengths) {
    read.ids.insert(read.ids.end(), start.all().begin(), start.all().end());
    read.ids.insert(read.ids.end(), next, next + length);
    read.lengths.push_back(length + static_cast<int32_t>(start.size()));
    next += length;
  }
  return read;
}

std::vector<std::vector<float>> score_pairs(Transformer& model, const PackedSide& sources,
                                            const PackedSide& targets, const StartTokens& start,
                                            int32_t end) {
  CHECK(sources.sentences() == targets.sentences(), "{} sources, {} targets", sources.sentences(),
        targets.sentences());
  const PackedSide read = shifted(targets, start);
  std::vector<int32_t> expected;  // its output
  const int32_t* next = targets.ids.data();
  for (const int32_t length : targets.lengths) {
    expected.insert(expected.end(), start.all().begin() + 1, start.all().end());
    expected.insert(expected.end(), next, next + length);
    expected.push_back(std::max(end, 0));  // without an end mark, the value there does not count
    next += length;
  }
  Device& device = model.device;
  Pass pass{device};
  const std::vector<uint64_t> pairs(sources.lengths.size());
  const Tokens source = pack_tokens(device, sources.ids, sources.lengths, pairs),
               target = pack_tokens(device, read.ids, read.lengths, pairs);
  const Array<int32_t> wanted(device.pool, expected);
  const Tensor losses = loss(pass, model, source, target, wanted, {0, SmoothingOver::all});

  std::vector<std::vector<float>> scores;
  const HostView<const float> values = losses.values();
  const float* of_target = values.data() + 1;  // beside the smoothed loss
  for (const int32_t length : targets.lengths) {
    scores.emplace_back();
    of_target += 2 * start.forced_length();
    for (int32_t t = 0; t <= length; ++t, of_target += 2) scores.back().push_back(-*of_target);
    if (end < 0) scores.back().pop_back();
  }
  return scores;
}

}  // namespace dragoman::internal
