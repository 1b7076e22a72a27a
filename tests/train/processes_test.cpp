// Updates that several processes make together, here as threads.
#include <cmath>

#include "data/corpora.h"
#include "model/weights.h"
#include "parallel/thread_processes.h"
#include "train/batches.h"
#include "train/run.h"

namespace dragoman::internal {
namespace {

const ModelConfig& config() {
  static const ModelConfig config = small_configs()[0].config;
  return config;
}

std::vector<float> weights_of(const Parameters& parameters) {
  return downloaded(parameters.memory(), parameters.weights());
}

// One process computes whole batches, several compute them in parts, of which only the last may start sums.
TEST(ProcessesTest, MakeOneUpdateOfAllTheirBatches) {
  std::vector<Batch> batches;
  for (uint64_t i = 0; i < 5; ++i) batches.push_back(random_batch(config(), 2 * i, 2));
  const auto train = [&](Processes& processes, std::vector<float>& gradients, Gradients& result) {
    SmallModel small(config(), kernels_for(nullptr), 1, /*gradients=*/true);
    Trainer trainer(small.model, {.part_tokens = processes.count() == 1 ? 0 : 3, .slice = 512}, processes);
    for (int update = 0; update < 2; ++update) {
      std::vector<Batch> own;
      for (size_t i = static_cast<size_t>(processes.number()); i < batches.size();
           i += static_cast<size_t>(processes.count()))
        own.push_back(batches[i]);
      result = trainer.compute(own);
      gradients = downloaded(small.device.memory, small.model.parameters.gradients());
    }
  };
  std::vector<float> wanted;
  Gradients whole;
  train(single_process(), wanted, whole);
  double squares = 0;
  for (const float g : wanted) squares += double{g} * double{g};

  constexpr int count = 7;  // more than there are batches: some have none
  std::vector<std::vector<float>> found(count);
  std::vector<Gradients> results(count);
  run_together(count, [&](Processes& processes) {
    const auto i = static_cast<size_t>(processes.number());
    train(processes, found[i], results[i]);
  });
  for (size_t p = 0; p < count; ++p) {
    EXPECT_EQ(found[p], found[0]);
    EXPECT_EQ(results[p].sums.target_tokens, whole.sums.target_tokens);
    EXPECT_EQ(results[p].norm, results[0].norm);
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(found[0][i], wanted[i], 1e-5 * std::sqrt(squares)) << i;
}

Recipe small_recipe(const TemporaryFolder& folder) {
  Recipe recipe;
  recipe.model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
  recipe.data = toy_data(folder, toy_text(100));
  recipe.data.hold_out = 10;
  recipe.vocabulary = toy_vocabulary();
  recipe.validation = {.every = 4, .metrics = {"loss"}, .samples = 0};
  recipe.training = {.batch_tokens = 60, .epsilon = 1e-3, .ema = 0.9, .max_steps = 20, .threads = 1};
  return recipe;
}

TEST(ProcessesTest, ARunOfSeveralMatchesOneThatAccumulates) {
  TemporaryFolder folder;
  Recipe recipe = small_recipe(folder);
  recipe.vocabulary.sampling = 0.1;
  std::vector<std::vector<float>> weights(3);
  run_together(3, [&](Processes& processes) {
    Recipe own = recipe;
    if (!processes.first()) own.data.source = own.data.target = {"/only/the/first/reads/it"};
    dragoman::internal::Run run(own, {.folder = folder.path("three")}, processes);
    run.train();
    weights[static_cast<size_t>(processes.number())] = weights_of(run.model().parameters);
  });
  recipe.training.accumulate = 3;
  dragoman::internal::Run run(recipe, {.folder = folder.path("one")});
  run.train();
  EXPECT_EQ(weights[1], weights[2]);
  read_weights(folder.path("three") + "/model.safetensors", run.model().parameters);
  const std::vector<float> three = weights_of(run.model().parameters);
  read_weights(folder.path("one") + "/model.safetensors", run.model().parameters);
  const std::vector<float> one = weights_of(run.model().parameters);
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(three[i], one[i], 1e-5) << i;
}

struct NamedSetting {
  const char* name;
  void (*set)(Recipe&);
};

const NamedSetting all_settings[] = {
    {"cooldown_over_epochs",
     [](Recipe& r) {
       r.training.max_steps = 0;
       r.training.max_epochs = 2;
       r.training.cooldown = 0.6;
     }},
    {"cooldown_by_the_clock",
     [](Recipe& r) {
       r.validation.every = 100;  // seldom, since its time does not count
       r.training.max_steps = 0;
       r.training.max_minutes = 0.02;
       r.training.cooldown = 0.9;
     }},
    {"early_cooldown",
     [](Recipe& r) {
       r.validation = {.every = 1, .metrics = {"loss"}, .samples = 0, .patience = 1};
       r.training.learning_rate = 0.05;
       r.training.schedule = Schedule::constant;
       r.training.cooldown = 0.5;
     }},
    {"validation_by_the_clock", [](Recipe& r) { r.validation.every_minutes = 1e-6; }},
    {"muon", [](Recipe& r) { r.training.optimizer = Optimizer::muon; }},
    {"guided_alignment", [](Recipe& r) { r.training.guided_alignment = 0.5; }},
    {"tags",
     [](Recipe& r) {
       r.training.guided_alignment = 0.5;
       r.data.noise.tags = 0.5;
     }},
    {"int8_weights", [](Recipe& r) { r.training.weights = TrainedWeights::int8; }},
    {"low_rank", [](Recipe& r) { r.training.trainable = Trainable::low_rank; }},
    {"automatic_precision", [](Recipe& r) { r.training.precision = TrainingPrecision::automatic; }},
};

class SettingsOfProcesses : public testing::TestWithParam<NamedSetting> {};

TEST_P(SettingsOfProcesses, LeaveAllWithTheSameWeights) {
  TemporaryFolder folder;
  Recipe recipe = small_recipe(folder);
  GetParam().set(recipe);
  std::vector<std::vector<float>> weights(3);
  run_together(3, [&](Processes& processes) {
    dragoman::internal::Run run(recipe, {.folder = folder.path("run")}, processes);
    run.train();
    EXPECT_GT(run.steps(), 3);
    weights[static_cast<size_t>(processes.number())] = weights_of(run.model().parameters);
  });
  // The first process ends with the weights that are kept, the others with those of the last update.
  EXPECT_EQ(weights[1], weights[2]);
}

INSTANTIATE_TEST_SUITE_P(Of, SettingsOfProcesses, testing::ValuesIn(all_settings),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
