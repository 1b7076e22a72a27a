// The GPU's kernels on memory that the host cannot touch: training and decoding give what they give in the host's.
#if defined(DRAGOMAN_CUDA_ON_HOST)

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/cuda/host/on_host.h"
#include "report/explain.h"
#include "search/stepped.h"
#include "train/batches.h"

namespace dragoman::internal {
namespace {

TEST(FarMemory, CrashesWhoeverTouchesIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Device device(cuda_on_host_far(), 1);
  const Tensor tensor(device.pool, 3, 5);
  device.memory.fill(tensor.matrix(), 1);
  EXPECT_DEATH(tensor.data()[0] = 2, "");
  EXPECT_EQ(tensor.values()[14], 1);
}

class OnFarMemory : public testing::TestWithParam<NamedConfig> {
 protected:
  const ModelConfig& config_ = GetParam().config;
};

TEST_P(OnFarMemory, TrainingGivesTheSameWeights) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const auto weights_on = [&](const Kernels& kernels) {
      SmallModel small(config_, kernels, 1, /*gradients=*/true);
      Trainer trainer(small.model, {.clip_norm = 1, .part_tokens = 30, .precision = precision});
      for (uint64_t step = 0; step < 2; ++step)
        trainer.update(std::vector{random_batch(config_, 10 * step, 6)}, 0.01);
      const HostView<const float> weights(small.device.memory, small.model.parameters.weights());
      return std::vector<float>(weights.begin(), weights.end());
    };
    EXPECT_TRUE(same_bits(weights_on(cuda_on_host_far()), weights_on(cuda_on_host())));
  }
}

TEST_P(OnFarMemory, ASearchFindsTheSame) {
  const auto tokens_on = [&](const Kernels& kernels) {
    SmallModel small(config_, kernels, 1);
    QueuedSearch search({&small.model}, {.sentences = 3});
    uint64_t id = 0;
    for (const Sentence& source : random_sentences(4, config_.source_vocabulary, 9, 1))
      search.add(id++, {.source = source, .options = {.beam = 3, .max_length = 6}});
    std::map<uint64_t, Sentence> tokens;
    while (search.busy())
      for (const RequestResult& result : search.step()) tokens[result.id] = result.hypotheses.at(0).tokens;
    return tokens;
  };
  EXPECT_EQ(tokens_on(cuda_on_host_far()), tokens_on(cuda_on_host()));
}

TEST_P(OnFarMemory, AnExplanationHasTheSameNumbers) {
  const auto piece = [](int32_t id) { return std::to_string(id); };
  const ExplainedPair pair = {.source = {3, 7, 2},
                              .read = {1, 5, 9},
                              .expected = {5, 9, 2},
                              .source_piece = piece,
                              .target_piece = piece};
  const auto numbers_on = [&](const Kernels& kernels) {
    SmallModel small(config_, kernels, 1);
    return to_json(explain(small.model, pair, {})).dump();
  };
  EXPECT_EQ(numbers_on(cuda_on_host_far()), numbers_on(cuda_on_host()));
}

INSTANTIATE_TEST_SUITE_P(EverySmallModel, OnFarMemory, testing::ValuesIn(small_configs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal

#endif
