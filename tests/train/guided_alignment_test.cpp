// Guided alignment in training: one head learns the links, and all else is as without it.
#include <cmath>

#include "base/files.h"
#include "data/synthetic.h"
#include "model/attentions.h"
#include "model/folder.h"
#include "search/attention.h"
#include "testing.h"
#include "train/schedule.h"
#include "train/trainer.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

constexpr int64_t guided = 1;  // layer

ModelConfig tiny_config() {
  ModelConfig config =
      without_dropout({.encoder_layers = 1, .decoder_layers = 2, .d_model = 32, .heads = 4, .d_ff = 64});
  config.source_vocabulary = config.target_vocabulary = 11;
  config.alignment_layer = guided;
  return config;
}

struct TinyTraining {
  explicit TinyTraining(const UpdateOptions& options, int threads = 1)
      : device(kernels_for(nullptr), threads),
        model(tiny_config(), device, Buffers::weights_and_gradients),
        trainer((model.parameters.initialise(1), model), options) {}

  std::vector<float> gradients() const {
    const auto values = model.parameters.gradients();
    return {values.begin(), values.end()};
  }

  Device device;
  Transformer model;
  Trainer trainer;
};

// The share of target tokens whose first head, or mean over heads, attends most to another token than it is linked to.
double alignment_error(Transformer& model, const Batch& batch) {
  Device& device = model.device;
  const Tokens source = pack_tokens(device, batch.source.ids, batch.source.lengths, batch.pairs),
               target = pack_tokens(device, batch.target_input.ids, batch.target_input.lengths, batch.pairs);
  const Tensor weights = cross_attention(model, source, target, guided);
  const HostView<const float> values = weights.values();
  double wrong = 0;
  for (int64_t row = 0; row < weights.rows(); ++row) {
    const std::vector<float> mean =
        mean_over_heads(values.data() + row * weights.columns(), alignment_heads(model.config, guided),
                        source.spans.longest, source.spans.longest);
    wrong += std::ranges::max_element(mean) - mean.begin() != batch.links.sources[static_cast<size_t>(row)];
  }
  return wrong / static_cast<double>(weights.rows());
}

TEST(GuidedAlignmentTraining, TeachesTheLinks) {
  const SyntheticTask task = {.kind = Synthetic::reverse, .symbols = 11, .length = 8, .sentences = 24};
  const auto error_after_training = [&](double weight) {
    TinyTraining run({.guided_alignment = weight});
    double last = 0;
    for (uint64_t step = 1; step <= 80; ++step) {
      const std::vector<Batch> batches = {task.batch(step)};
      last = run.trainer.update(batches, noam_rate(static_cast<int64_t>(step), 32, 1, 40))
                 .alignment_per_token()
                 .value_or(9);
    }
    EXPECT_EQ(last<0.5, weight> 0) << last;
    run.model.config.alignment_layer = weight > 0 ? guided : 0;
    return alignment_error(run.model, task.batch(0));
  };
  EXPECT_LT(error_after_training(1), 0.03);
  EXPECT_GT(error_after_training(0), 0.2);
}

TEST(GuidedAlignmentTraining, MakesTheSameUpdateHoweverItIsCut) {
  const SyntheticTask task = {.kind = Synthetic::sort, .sentences = 12};
  const std::vector<Batch> batches = {task.batch(1), task.batch(2)};
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    TinyTraining whole({.precision = precision, .guided_alignment = 0.5});
    TinyTraining cut({.part_tokens = 30, .precision = precision, .guided_alignment = 0.5}, 2);
    TinyTraining without({.precision = precision});
    const LossSums sums = whole.trainer.update(batches, 0), same = cut.trainer.update(batches, 0);
    EXPECT_EQ(without.trainer.update(batches, 0).smoothed, sums.smoothed);
    EXPECT_EQ(sums.linked_tokens, sums.target_tokens);
    EXPECT_EQ(same.linked_tokens, sums.linked_tokens);
    EXPECT_NEAR(same.alignment, sums.alignment, 1e-5 * sums.alignment);
    const std::vector<float> a = whole.gradients(), b = cut.gradients(), c = without.gradients();
    double difference = 0, effect = 0, size = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      difference += std::pow(a[i] - b[i], 2);
      effect += std::pow(a[i] - c[i], 2);
      size += std::pow(a[i], 2);
    }
    EXPECT_LT(std::sqrt(difference), 1e-5 * std::sqrt(size));
    EXPECT_GT(std::sqrt(effect), 1e-2 * std::sqrt(size));
  }
}

// Of a corpus, whose pieces are sampled again in each epoch.
TEST_F(WholeRun, GuidedAlignmentResumesToTheBit) {
  learn_from_text(100);
  recipe_.training.guided_alignment = 0.3;
  recipe_.training.batch_tokens = 300;
  recipe_.training.max_steps = 6;
  const History history = train("whole");
  ASSERT_NE(history.train.column("alignment_loss"), nullptr);
  EXPECT_EQ(history.train.column("alignment_loss")->size(), 6U);
  EXPECT_GT(history.train.column("alignment_loss")->front(), 0.5);
  EXPECT_EQ(read_model_config(folder_.path("whole")).alignment_layer, 1);
  recipe_.training.max_steps = 3;
  train("resumed");
  recipe_.training.max_steps = 6;
  train("resumed");
  EXPECT_EQ(read_file(folder_.path("resumed/model.safetensors")),
            read_file(folder_.path("whole/model.safetensors")));
}

TEST_F(WholeRun, GuidedAlignmentIsRememberedByWhoStartsFromIt) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 2, .valid_batches = 1};
  recipe_.training.max_steps = 1;
  recipe_.training.guided_alignment = 1;
  train("guided");
  recipe_.training.guided_alignment = 0;
  EXPECT_EQ(train("plain").train.column("alignment_loss"), nullptr);
  EXPECT_EQ(read_model_config(folder_.path("plain")).alignment_layer, 0);
  dragoman::internal::Run run(recipe_,
                              {.folder = folder_.path("tuned"), .init_from = folder_.path("guided")});
  run.train();
  EXPECT_EQ(read_model_config(folder_.path("tuned")).alignment_layer, 1);
}

}  // namespace
}  // namespace dragoman::internal
