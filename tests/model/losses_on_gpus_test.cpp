// On a GPU a pair's losses in training have the same bytes whatever it is trained with: in fp32, tf32 and bf16, in
// batches of any size and in any order. tests/model/packed_test.cpp does the same for every small model in fp32.
#include <algorithm>
#include <numeric>

#include "model/gpu_cases.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

class LossesOnAGpu : public testing::TestWithParam<GpuCase> {
 protected:
  // Of the pairs of a batch, in training: with dropout, which belongs to the pair.
  std::vector<Floats> losses(const std::vector<uint64_t>& batch) {
    std::vector<Sentence> sources, targets, predictions;
    for (const uint64_t pair : batch) {
      sources.push_back(sources_[pair]);
      targets.push_back(targets_[pair]);
      predictions.push_back(targets_[pair]);
      std::rotate(predictions.back().begin(), predictions.back().begin() + 1, predictions.back().end());
    }
    Device& device = small_.device;
    const Tokens source = pack(device, sources, batch), target = pack(device, targets, batch),
                 predicted = pack(device, predictions, batch);
    Tape tape;
    Pass pass{.device = device, .tape = &tape, .precision = GetParam().precision, .seed = 5, .update = 9};
    const Tensor all = loss(pass, small_.model, source, target, predicted.ids, {0.1F, SmoothingOver::all});
    tape.clear();
    std::vector<Floats> of_pairs;
    for (const Span& span : target.spans.spans.values()) of_pairs.push_back(rows_of(all, span));
    return of_pairs;
  }

  static size_t count() { return GetParam().on_gpu_itself() ? 96 : 9; }

  SmallModel small_{config_for(GetParam()), *GetParam().kernels, 1, /*gradients=*/true};
  const std::vector<Sentence> sources_ =
      random_sentences(count(), small_.model.config.source_vocabulary, 40, 1);
  const std::vector<Sentence> targets_ =
      random_sentences(count(), small_.model.config.target_vocabulary, 30, 2);
};

TEST_P(LossesOnAGpu, ArePairsOwnInAnyBatch) {
  std::vector<uint64_t> order(count());
  std::iota(order.begin(), order.end(), uint64_t{0});
  std::vector<Floats> alone;
  for (const uint64_t pair : order) alone.push_back(losses({pair})[0]);
  Random random(5);
  for (const size_t size : {size_t{7}, size_t{64}}) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (size_t begin = 0; begin < order.size(); begin += size) {
      const size_t end = std::min(begin + size, order.size());
      const std::vector<uint64_t> batch(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                        order.begin() + static_cast<std::ptrdiff_t>(end));
      const std::vector<Floats> got = losses(batch);
      for (size_t i = 0; i < batch.size(); ++i)
        EXPECT_TRUE(same_bits(got[i], alone[batch[i]])) << "pair " << batch[i] << " in a batch of " << size;
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LossesOnAGpu);
INSTANTIATE_TEST_SUITE_P(On, LossesOnAGpu, testing::ValuesIn(gpu_cases({Precision::bf16})), gpu_case_name);

}  // namespace
}  // namespace dragoman::internal
