// Training low-rank updates: what changes, by which gradients, and what the run's folder holds.
#include "nn/low_rank.h"

#include <cmath>

#include "base/files.h"
#include "model/folder.h"
#include "model/weights.h"
#include "train/batches.h"
#include "train/whole_run.h"

namespace dragoman::internal {
namespace {

struct LowRankTraining {
  static Transformer& prepared(Transformer& model) {
    declare_low_rank_updates(model.parameters, /*rank=*/2);
    model.parameters.allocate(Buffers::weights_and_gradients);
    model.parameters.initialise(1);
    return model;
  }
  static ModelConfig config() { return without_dropout(small_configs()[0].config); }

  // The updates that change B make A's gradients other than zero.
  void update(int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      trainer.update(std::vector{random_batch(config(), static_cast<uint64_t>(8 * i), 8)}, 1e-2);
  }
  double loss(const Batch& batch) {
    const Trainer::PassWeights weights = trainer.pass_weights();
    return trainer.evaluate(batch).unsmoothed;
  }
  std::vector<float> values(const Parameter& parameter) const {
    const HostView<const float> view = parameter.value.values();
    return {view.begin(), view.end()};
  }

  Device device{kernels_for(nullptr), 1};
  Transformer model{config(), device, Buffers::none_yet};
  Trainer trainer{prepared(model), {.smoothing = {0, SmoothingOver::all}, .fixes_matrices = true}};
};

TEST(LowRankTrainingTest, HasTheGradientsOfTheLoss) {
  LowRankTraining run;
  run.update(3);
  const Batch batch = random_batch(run.config(), 100, 6);
  run.trainer.compute(std::vector{batch});
  constexpr float step = 2e-3F;
  int compared = 0;
  for (const Parameter& parameter : run.model.parameters.list()) {
    if (!is_low_rank(parameter.name)) continue;
    const float gradient = run.model.parameters.gradients()[static_cast<size_t>(parameter.offset)];
    float& value = run.model.parameters.weights()[static_cast<size_t>(parameter.offset)];
    const float own = value;
    value = own + step;
    const double above = run.loss(batch);
    value = own - step;
    const double below = run.loss(batch);
    value = own;
    const double wanted = (above - below) / (2 * static_cast<double>(step));
    EXPECT_NEAR(wanted, static_cast<double>(gradient), 0.02 * std::abs(wanted) + 0.03) << parameter.name;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(LowRankTrainingTest, LeavesMatricesAsTheyAre) {
  LowRankTraining before, run;
  run.update(2);
  int changed = 0;
  for (size_t i = 0; i < run.model.parameters.list().size(); ++i) {
    const Parameter& parameter = run.model.parameters.list()[i];
    const bool same = run.values(parameter) == before.values(before.model.parameters.list()[i]);
    EXPECT_TRUE(same || parameter.value.rows() == 1 || is_low_rank(parameter.name)) << parameter.name;
    changed += !same && is_low_rank(parameter.name);
  }
  EXPECT_GT(changed, 20);
  const Batch batch = random_batch(run.config(), 0, 8);
  EXPECT_LT(run.loss(batch), before.loss(batch));
}

// What the run's file says is what it validated with, for a model that knows of no updates.
TEST_F(WholeRun, OfLowRankResumesToTheSameBitsAndLeavesAModelLikeAnyOther) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.trainable = Trainable::low_rank;
  recipe_.training.rank = 1;
  recipe_.training.ema = 0.9;
  recipe_.training.max_steps = 4;
  const History whole = train("whole");
  recipe_.training.max_steps = 2;
  train("stopped");
  recipe_.training.max_steps = 4;
  train("stopped");
  EXPECT_EQ(read_file(folder_.path("stopped/model.safetensors")),
            read_file(folder_.path("whole/model.safetensors")));

  Device device(kernels_for(nullptr), 1);
  Transformer model(read_model_config(folder_.path("whole")), device, Buffers::none_yet);
  read_weights(weights_path(folder_.path("whole")), model.parameters, Buffers::weights_and_gradients);
  const Task task = make_task(recipe_, folder_.path("whole"), single_process(), {});
  LossSums sums;
  for (const Batch& batch : task.validation.batches) sums += Trainer(model, {}).evaluate(batch);
  ASSERT_NE(nullptr, whole.validation.column("loss"));
  EXPECT_NEAR(whole.validation.column("loss")->back(), sums.unsmoothed_per_token(), 1e-6);
}

TEST_F(WholeRun, OfLowRankStartsWithTheWeightsOfAnother) {
  recipe_.data = {.synthetic = Synthetic::copy, .sentences = 4, .batches = 7, .valid_batches = 1};
  recipe_.training.max_steps = 2;
  train("whole");
  recipe_.training.trainable = Trainable::low_rank;
  recipe_.training.learning_rate = 1e-12;
  recipe_.training.schedule = Schedule::constant;
  dragoman::internal::Run run(recipe_,
                              {.folder = folder_.path("updated"), .init_from = folder_.path("whole")});
  run.train();
  const auto before = SafetensorsFile::open(weights_path(folder_.path("whole"))),
             after = SafetensorsFile::open(weights_path(folder_.path("updated")));
  EXPECT_GT(after.entries().size(), before.entries().size());
  for (const TensorEntry& entry : before.entries()) {
    const bool same = std::ranges::equal(entry.bytes, after.find(entry.name).bytes);
    EXPECT_TRUE(same || entry.shape.size() == 1) << entry.name;
  }
}

}  // namespace
}  // namespace dragoman::internal
