// The parts of a run, each alone: its state, its store, and recovery from divergence.
#include <filesystem>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "data/synthetic.h"
#include "model/folder.h"
#include "parallel/thread_processes.h"
#include "temporary_folder.h"
#include "train/batches.h"
#include "train/recovery.h"
#include "train/run.h"
#include "train/run_checks.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using Verdict = DivergenceGuard::Verdict;

TEST(ValidationRecordTest, RemembersTheBestAndCountsTheOthers) {
  constexpr KeepBestBy by_loss = KeepBestBy::loss, by_bleu = KeepBestBy::bleu;
  ValidationRecord loss, bleu;
  EXPECT_FALSE(ValidationRecord().add(1, std::nan(""), by_loss));
  EXPECT_TRUE(loss.add(1, 5, by_loss));
  EXPECT_TRUE(loss.add(2, 4, by_loss));
  EXPECT_FALSE(loss.add(3, 4, by_loss));
  EXPECT_FALSE(loss.add(4, std::nan(""), by_loss));
  EXPECT_EQ(loss.best_step, 2);
  EXPECT_EQ(loss.best_value, 4);
  EXPECT_EQ(loss.last_step, 4);
  EXPECT_EQ(loss.without_improvement, 2);
  EXPECT_TRUE(bleu.add(1, 0, by_bleu));
  EXPECT_TRUE(bleu.add(2, 1, by_bleu));
  EXPECT_FALSE(bleu.add(3, 0.5, by_bleu));
}

TEST(ValidationRecordTest, BeginsAnewWhereAnotherValueDecides) {
  RunState before, after;
  before.validations.add(1, 50, KeepBestBy::chrf);
  after.from_json(before.to_json());
  EXPECT_FALSE(after.validations.add(2, 40, KeepBestBy::chrf));
  EXPECT_TRUE(after.validations.add(3, 20, KeepBestBy::bleu));
  EXPECT_FALSE(after.validations.add(4, 19, KeepBestBy::bleu));
  EXPECT_EQ(after.validations.best_step, 3);
}

RunState some_state() {
  RunState state = {.position = {2, 3},
                    .seconds = 12.5,
                    .recent_sums = {1.5, 2.5, 30, 40},
                    .epoch_sums = {2.5, 3.5, 50, 60},
                    .recent_seconds = 3,
                    .validations = {8, 4, 3.25, 2},
                    .batches_per_update = 6,
                    .batches_in_epoch = 5};
  state.guard.judge(std::nan(""), 1);
  return state;
}

// As released versions read and write it.
TEST(RunStateTest, KeepsItsFormat) {
  const nlohmann::json json = some_state().to_json();
  for (const char* key :
       {"epoch", "index", "seconds", "recent_sums", "recent_seconds", "best_step", "best_value",
        "without_improvement", "validated_step", "batches_per_update", "guard"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("validated_step"), 8);
  EXPECT_EQ(json.at("best_step"), 4);
  RunState copy;
  copy.from_json(nlohmann::json::parse(json.dump()));
  EXPECT_EQ(copy.to_json(), json);
  EXPECT_EQ(copy.position.index, 3);
  EXPECT_EQ(copy.epoch(), 3);
}

TEST(RunStateTest, ReadsCheckpointsWithoutTheSumsOfTheEpoch) {
  nlohmann::json json = some_state().to_json();
  json.erase("epoch_sums");
  RunState state = some_state();
  state.from_json(json);
  EXPECT_EQ(state.epoch_sums.target_tokens, 0);
  EXPECT_EQ(state.recent_sums.target_tokens, 40);
}

TEST(UpdateOptionsTest, HaveAllThatARecipeSaysOfUpdates) {
  TrainingConfig training = {.part_tokens = 100,
                             .optimizer = Optimizer::adamw,
                             .weight_decay = 0.2,
                             .beta1 = 0.3,
                             .beta2 = 0.4,
                             .epsilon = 0.5,
                             .momentum = 0.6,
                             .matrix_rate = 0.7,
                             .label_smoothing = 0.25,
                             .smoothing_over = SmoothingOver::others,
                             .clip_norm = 0.8,
                             .ema = 0.9,
                             .guided_alignment = 1.5,
                             .seed = 7,
                             .precision = TrainingPrecision::bf16,
                             .weights = TrainedWeights::int8,
                             .trainable = Trainable::biases,
                             .reduce_as = GradientFormat::bf16};
  const UpdateOptions options = update_options(training);
  EXPECT_EQ(options.adam.beta1, 0.3);
  EXPECT_EQ(options.adam.beta2, 0.4);
  EXPECT_EQ(options.adam.epsilon, 0.5);
  EXPECT_EQ(options.adam.weight_decay, 0.2);
  EXPECT_FALSE(options.muon);
  EXPECT_EQ(options.smoothing.amount, 0.25F);
  EXPECT_EQ(options.smoothing.over, SmoothingOver::others);
  EXPECT_EQ(options.clip_norm, 0.8);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.part_tokens, 100);
  EXPECT_EQ(options.precision, Precision::bf16);
  EXPECT_EQ(options.wire, GradientFormat::bf16);
  EXPECT_TRUE(options.int8_weights);
  EXPECT_EQ(options.ema, 0.9);
  EXPECT_TRUE(options.fixes_matrices);
  EXPECT_EQ(options.guided_alignment, 1.5);

  training.optimizer = Optimizer::muon;
  training.trainable = Trainable::low_rank;
  const UpdateOptions with_muon = update_options(training);
  ASSERT_TRUE(with_muon.muon);
  EXPECT_EQ(with_muon.muon->momentum, 0.6);
  EXPECT_EQ(with_muon.muon->rate, 0.7);
  EXPECT_EQ(with_muon.adam.weight_decay, 0);
  EXPECT_TRUE(with_muon.fixes_matrices);

  const UpdateOptions unnamed = update_options({});
  EXPECT_EQ(unnamed.adam.weight_decay, 0) << "Adam has none";
  EXPECT_FALSE(unnamed.muon);
  EXPECT_EQ(unnamed.precision, Precision::fp32);
  EXPECT_FALSE(unnamed.int8_weights);
  EXPECT_FALSE(unnamed.fixes_matrices);
}

class RunParts : public testing::Test {
 protected:
  RunParts() { store_.start_history(); }

  // Makes updates up to this step, with a checkpoint after each.
  void train_to(int64_t step) {
    while (trainer_.steps() < step) {
      trainer_.update(std::vector{random_batch(small_.model.config, 0, 5)}, 0.01);
      store_.log("train", trainer_.steps(), {{"loss", 1.0}});
      store_.save(trainer_, state_, CheckpointReason::on_schedule);
    }
  }

  std::vector<float> weights() const {
    const auto values = small_.model.parameters.weights();
    return {values.begin(), values.end()};
  }

  std::string events() const {
    std::string text;
    read_metrics(folder_.path("run") + "/metrics.jsonl",
                 [&](const MetricsEvent& event) { text += fmt::format("{} {}; ", event.event, event.step); });
    return text;
  }

  TemporaryFolder folder_;
  SmallModel small_{small_configs()[0].config, kernels_for(nullptr), 1, /*gradients=*/true};
  Trainer trainer_{small_.model, {.ema = 0.9}};
  RunState state_ = some_state();
  RunStore store_{folder_.path("run"), 9, single_process()};
};

TEST_F(RunParts, LoadingACheckpointRestoresItsStepAndCutsTheHistory) {
  trainer_.reset();
  train_to(1);
  const std::vector<float> first = weights(), average = [&] {
    const auto values = trainer_.weights_for_use();
    return std::vector<float>(values.begin(), values.end());
  }();
  const nlohmann::json state = state_.to_json();
  train_to(3);
  state_.seconds = 99;
  EXPECT_NE(weights(), first);
  store_.load(*store_.checkpoints().of_step(1), trainer_, state_);
  EXPECT_EQ(weights(), first);
  EXPECT_TRUE(same_bits(trainer_.weights_for_use(), average));
  EXPECT_EQ(trainer_.steps(), 1);
  EXPECT_EQ(state_.to_json(), state);
  EXPECT_EQ(events(), "train 1; ");
}

TEST_F(RunParts, TheAverageIsSwappedInAndOut) {
  trainer_.reset();
  train_to(2);
  const std::vector<float> own = weights();
  EXPECT_FALSE(same_bits(trainer_.weights_for_use(), own));
  trainer_.swap_average();
  EXPECT_NE(weights(), own);
  EXPECT_TRUE(same_bits(trainer_.weights_for_use(), own));
  trainer_.swap_average();
  EXPECT_EQ(weights(), own);
}

TEST_F(RunParts, WhatACheckpointHoldsIsCheckedForBeingFinite) {
  trainer_.reset();
  train_to(1);
  EXPECT_EQ(trainer_.non_finite_tensor(), "");
  const std::span<const float> average = trainer_.weights_for_use();
  const std::pair<float*, const char*> first_values[] = {
      {small_.model.parameters.weights().data(), "weights/"},
      {const_cast<float*>(average.data()), ""},
      {trainer_.adam().first_moments().data(), "first/"},
      {trainer_.adam().second_moments().data(), "second/"}};
  for (const auto& [value, prefix] : first_values) {
    const float before = std::exchange(*value, std::numeric_limits<float>::infinity());
    EXPECT_EQ(trainer_.non_finite_tensor(), prefix + small_.model.parameters.list()[0].name);
    *value = before;
  }
}

TEST_F(RunParts, ACheckpointOfAnotherModelOrCorpusIsRefused) {
  trainer_.reset();
  store_.set_corpus("one");
  train_to(1);
  const CheckpointInfo checkpoint = *store_.checkpoints().newest();
  EXPECT_NO_THROW(store_.load(checkpoint, trainer_, state_));
  store_.set_corpus("another");
  EXPECT_THROW(store_.load(checkpoint, trainer_, state_), UsageError);
  ModelConfig other = small_.model.config;
  const nlohmann::json saved = Checkpoints::read_state(checkpoint);
  EXPECT_NO_THROW(check_fits_checkpoint(saved, "step", other, "one"));
  other.heads /= 2;
  EXPECT_THROW(check_fits_checkpoint(saved, "step", other, "one"), UsageError);
  EXPECT_NO_THROW(check_fits_checkpoint({{"state", 1}}, "step", other, "one")) << "of an earlier version";
}

TEST_F(RunParts, AFolderIsLockedWhileItsStoreLives) {
  EXPECT_THROW(RunStore(folder_.path("run"), 9, single_process()), Error);
  { RunStore another(folder_.path("another"), 9, single_process()); }
  RunStore again(folder_.path("another"), 9, single_process());
}

TEST_F(RunParts, OnlyTheFirstProcessWrites) {
  ThreadProcesses::Shared shared(2);
  RunStore store(folder_.path("second"), 9, ThreadProcesses(shared, 1));
  store.start_history();
  store.log("train", 1, {{"loss", 1.0}});
  store.save(trainer_, state_, CheckpointReason::extra);
  state_.validations.best_step = trainer_.steps();
  store.keep_if_best(trainer_, state_);
  EXPECT_FALSE(fs::exists(folder_.path("second")));
}

TEST_F(RunParts, OnlyTheBestModelIsKept) {
  state_.validations.best_step = 7;
  store_.keep_if_best(trainer_, state_);
  EXPECT_FALSE(fs::exists(weights_path(store_.folder())));
  state_.validations.best_step = 0;
  store_.keep_if_best(trainer_, state_);
  EXPECT_TRUE(fs::exists(weights_path(store_.folder())));
  EXPECT_TRUE(store_.checkpoints().newest()) << "the first model has a checkpoint beside it";
}

// A checkpoint of a later step is of no use without them.
TEST_F(RunParts, TheBestWeightsStayInMemoryUntilTheyCanBeWritten) {
  trainer_.reset();
  const std::vector<float> best = weights();
  const std::string model = weights_path(store_.folder()), checkpoints = store_.folder() + "/checkpoints";
  fs::create_directories(model + "/in the way");
  fs::create_symlink("nowhere", checkpoints);
  state_.validations.best_step = 0;
  store_.keep_if_best(trainer_, state_);
  trainer_.update(std::vector{random_batch(small_.model.config, 0, 5)}, 0.01);
  fs::remove(checkpoints);
  EXPECT_THROW(store_.save(trainer_, state_, CheckpointReason::on_schedule), Error);
  EXPECT_FALSE(store_.checkpoints().newest());
  fs::remove_all(model);
  store_.save(trainer_, state_, CheckpointReason::on_schedule);
  EXPECT_EQ(store_.checkpoints().newest()->step, 1);
  store_.finish(trainer_, state_, 0);
  EXPECT_EQ(weights(), best);
  EXPECT_EQ(read_run_model(store_.folder()).step, "0");
}

class RecoveryTest : public RunParts {
 protected:
  RecoveryTest() {
    trainer_.reset();
    first_weights_ = weights();
  }

  bool recover(Verdict verdict) {
    return recovery_.recover({.sums = {std::nan(""), 0, 10, 10}, .norm = 1}, verdict);
  }

  SyntheticBatches batches_{{}, 7};
  std::vector<float> first_weights_;
  Recovery recovery_{trainer_, state_, store_, batches_, [this] {
                       std::ranges::copy(first_weights_, small_.model.parameters.weights().begin());
                       trainer_.reset();
                     }};
};

TEST_F(RecoveryTest, SkippingChangesNothing) {
  train_to(2);
  const std::vector<float> before = weights();
  EXPECT_FALSE(recover(Verdict::skip));
  EXPECT_EQ(weights(), before);
  EXPECT_EQ(trainer_.steps(), 2);
  EXPECT_EQ(events(), "train 1; train 2; divergence 2; ");
}

TEST_F(RecoveryTest, ARollbackTakesTheLastGoodWeightsAndGoesOnInTheData) {
  train_to(2);
  const std::vector<float> good = weights();
  train_to(3);
  state_.position = {4, 5};
  state_.seconds = 77;
  const int64_t skipped = state_.guard.skipped();
  state_.guard.judge(std::nan(""), 1);
  EXPECT_TRUE(recover(Verdict::rollback));
  EXPECT_EQ(weights(), good);
  EXPECT_EQ(trainer_.steps(), 2);
  EXPECT_EQ(batches_.position().epoch, 4);
  EXPECT_EQ(batches_.position().index, 5);
  EXPECT_EQ(state_.seconds, 77);
  EXPECT_EQ(state_.guard.skipped(), skipped + 1);
  EXPECT_EQ(store_.checkpoints().newest()->step, 2) << "checkpoints of failed steps are removed";
  EXPECT_EQ(events(), "train 1; train 2; divergence 3; ");
}

TEST_F(RecoveryTest, WithoutAGoodCheckpointItGoesToStep0) {
  train_to(1);
  EXPECT_TRUE(recover(Verdict::rollback));
  EXPECT_EQ(weights(), first_weights_);
  EXPECT_EQ(trainer_.steps(), 0);
  EXPECT_EQ(state_.batches_per_update, 6);
  EXPECT_EQ(state_.validations.best_step, -1);
  EXPECT_EQ(store_.checkpoints().newest()->step, 0);
  EXPECT_EQ(events(), "divergence 1; ");
}

TEST_F(RecoveryTest, WhatUpdatesHaveSpoiltIsAlwaysRolledBack) {
  train_to(3);
  recovery_.recover_from("second/w has values that are not finite");
  EXPECT_EQ(trainer_.steps(), 2);
  EXPECT_EQ(state_.guard.rate_scale(), 0.5);
  EXPECT_EQ(events(), "train 1; train 2; divergence 3; ");
  for (int i = 0; i < 2; ++i) recovery_.recover_from("w");
  EXPECT_THROW(recovery_.recover_from("w"), Error);
}

TEST_F(RecoveryTest, StoppingNamesTheLastGoodCheckpoint) {
  train_to(2);
  try {
    recover(Verdict::stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("step-00000001"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dragoman::internal
