// Updates that several processes make together, here threads of one.
#include <cmath>

#include "data/corpora.h"
#include "model/weights.h"
#include "train/batches.h"
#include "train/run.h"
#include "train/thread_processes.h"

namespace dragoman {
namespace {

const ModelConfig& config() {
  static const ModelConfig pre = small_configs()[0].config;
  return pre;
}

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

// One of two, of which the other one has nothing to add. Keeps what sets out as it was then.
class Recorder : public Processes {
 public:
  struct Sent {
    std::span<float> place;
    std::vector<float> values;
  };
  std::vector<Sent> sent;
  size_t sent_before_finish = 0;

  int count() const override { return 2; }
  int number() const override { return 0; }
  int on_this_machine() const override { return 1; }
  int share_of_threads() const override { return 1; }
  void start_sum(std::span<float> values, Wire) override { sent.push_back({values, copy(values)}); }
  void finish_sums() override {}
  std::string from_first(const std::string& text) override { return text; }
  void abandon_sums() override {}
  double seconds_waited() const override { return 0; }
  void set_heartbeat_timeout(double) override {}
  void leave() override {}

 protected:
  void gather_bytes(const void*, size_t, void*) override {}
};

// Forward and backward of a batch, with the sum of its gradients in slices of so many floats.
void backward(SmallModel& small, GradientSum& sum, Recorder& recorder) {
  const Batch batch = random_batch(config(), 0, 5);
  Device& device = small.model.device;
  std::ranges::fill(small.model.parameters.gradients(), 0.0f);
  recorder.sent.clear();
  Tape tape;
  Pass pass{.device = device, .tape = &tape};
  const Tokens source = pack_tokens(device, batch.source.ids, batch.source.lengths, batch.pairs);
  const Tokens target = pack_tokens(device, batch.target_input.ids, batch.target_input.lengths, batch.pairs);
  const Array<int32_t> targets(device.pool, std::span<const int32_t>(batch.targets));
  loss(pass, small.model, source, target, targets, {0.1f, SmoothingOver::all});
  sum.begin(tape);
  tape.backward();
  recorder.sent_before_finish = recorder.sent.size();
  sum.finish(tape);
}

TEST(GradientSumTest, SlicesSetOutWhileBackwardGoesOnAndOnlyWhenTheyAreWhole) {
  SmallModel small(config(), kernels_for(nullptr), 1, /*gradients=*/true);
  Recorder recorder;
  GradientSum sum(small.model.parameters, recorder, Wire::fp32, 512);
  const auto all = static_cast<int64_t>(small.model.parameters.gradients().size());
  for (const bool knows_the_order : {false, true}) {
    backward(small, sum, recorder);
    EXPECT_EQ(static_cast<int64_t>(recorder.sent.size()), (all + 511) / 512);
    int64_t floats = 0;
    for (const Recorder::Sent& sent : recorder.sent) {
      EXPECT_EQ(sent.values, copy(sent.place));  // nothing was added to it later
      floats += static_cast<int64_t>(sent.values.size());
    }
    EXPECT_EQ(floats, all);
    if (knows_the_order) {
      EXPECT_GT(recorder.sent_before_finish, recorder.sent.size() / 2);
    }
  }
}

// The one process works on whole batches, the several in parts: only the last of them may send gradients off.
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
      gradients = copy(small.model.parameters.gradients());
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

TEST(ProcessesTest, ARunOfSeveralIsThatOfOneWhichAccumulates) {
  TemporaryFolder folder;
  Recipe recipe;
  recipe.model = {.encoder_layers = 1, .decoder_layers = 1, .d_model = 16, .heads = 2, .d_ff = 32};
  recipe.data = toy_data(folder, toy_text(100));
  recipe.data.hold_out = 10;
  recipe.vocabulary = toy_vocabulary();
  recipe.vocabulary.sampling = 0.1;
  recipe.validation = {.every = 4, .metrics = {"loss"}, .samples = 0};
  recipe.training = {.batch_tokens = 60, .epsilon = 1e-3, .ema = 0.9, .max_steps = 20, .threads = 1};
  std::vector<std::vector<float>> weights(3);
  run_together(3, [&](Processes& processes) {
    Recipe own = recipe;
    if (!processes.first()) own.data.source = own.data.target = {"/the/first/alone/reads/it"};
    dragoman::Run run(own, {.folder = folder.path("three")}, processes);
    run.train();
    weights[static_cast<size_t>(processes.number())] = copy(run.model().parameters.weights());
  });
  recipe.training.accumulate = 3;
  dragoman::Run run(recipe, {.folder = folder.path("one")});
  run.train();
  EXPECT_EQ(weights[1], weights[2]);
  read_weights(folder.path("three") + "/model.safetensors", run.model().parameters);
  const std::vector<float> three = copy(run.model().parameters.weights());
  read_weights(folder.path("one") + "/model.safetensors", run.model().parameters);
  const std::span<const float> one = run.model().parameters.weights();
  for (size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(three[i], one[i], 1e-5) << i;
}

}  // namespace
}  // namespace dragoman
