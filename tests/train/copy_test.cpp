// The whole of it on a task that shows whether a model learns at all.
#include "data/synthetic.h"
#include "model/weights_file.h"
#include "search/search.h"
#include "testing.h"
#include "train/schedule.h"
#include "train/trainer.h"

namespace dragoman::internal {
namespace {

class CopyTaskTraining : public testing::TestWithParam<Precision> {};

TEST_P(CopyTaskTraining, ASmallModelLearnsItAndDecodesIt) {
  ModelConfig config = {
      .encoder_layers = 1, .decoder_layers = 1, .d_model = 32, .heads = 2, .d_ff = 64, .dropout = 0};
  config.attention_dropout = config.embedding_dropout = 0;
  config.source_vocabulary = config.target_vocabulary = 8;
  Device device(kernels_for(nullptr), 1);
  Transformer model(config, device, Buffers::weights_and_gradients);
  model.parameters.initialise(1);
  Trainer trainer(model, {.smoothing = {0, SmoothingOver::all}, .precision = GetParam()});
  const SyntheticTask task = {.symbols = 8, .length = 6, .sentences = 32};
  double first = 0;
  for (uint64_t step = 1; step <= 400; ++step) {
    const std::vector<Batch> batches = {task.batch(step)};
    const double rate = noam_rate(static_cast<int64_t>(step), config.d_model, 1, 60);
    const LossSums sums = trainer.update(batches, rate);
    if (step == 1) first = sums.per_token();
  }
  EXPECT_GT(first, 1.5);  // it knows nothing: about ln 7
  EXPECT_LT(trainer.evaluate(task.batch(0)).per_token(), 0.05);

  const std::vector<std::vector<int32_t>> sentences = {
      {1, 2, 3, 4, 5, 6}, {1, 7, 7, 2, 5, 3}, {1, 1, 1, 1, 1, 4}};
  PackedSide source;
  for (const auto& s : sentences) source.add(s.data(), s.data() + s.size());
  const auto outputs = search_all(model, source, {.beam = 3, .max_length = 5}, {.end = -1});
  for (size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_EQ(outputs[i][0].tokens, std::vector<int32_t>(sentences[i].begin() + 1, sentences[i].end()));
  }
}

INSTANTIATE_TEST_SUITE_P(In, CopyTaskTraining, testing::Values(Precision::fp32, Precision::bf16),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace dragoman::internal
