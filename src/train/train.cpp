#include "train/train.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <ostream>

#include <fmt/ranges.h>

#include "base/log.h"
#include "base/random.h"
#include "base/threads.h"
#include "search/greedy.h"
#include "text/synthetic.h"
#include "train/schedule.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

// A stretch of training or evaluation: its losses, and how long it took.
struct Epoch {
  LossSums sums;
  double seconds = 0;

  double tokens_per_second() const {
    return static_cast<double>(sums.source_tokens + sums.target_tokens) / std::max(seconds, 1e-9);
  }
};

template <class Work>
Epoch timed(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  Epoch epoch = {.sums = work()};
  epoch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return epoch;
}

CopyTask copy_task(const Recipe& recipe, const char* use) {
  return {.symbols = recipe.data.symbols,
          .length = recipe.data.length,
          .sentences = recipe.data.sentences,
          .seed = mix(static_cast<uint64_t>(recipe.training.seed), use)};
}

bool enough(const Recipe& recipe, int64_t epochs, int64_t steps) {
  const TrainingConfig& training = recipe.training;
  return (training.max_epochs > 0 && epochs >= training.max_epochs) ||
         (training.max_steps > 0 && steps >= training.max_steps);
}

// Updates until the epoch's batches are used up, or the run has had its steps.
LossSums train_epoch(Trainer& trainer, const Recipe& recipe, const CopyTask& task, int64_t epoch) {
  const TrainingConfig& training = recipe.training;
  LossSums sums;
  std::vector<Batch> batches;
  for (int64_t i = 0; i < recipe.data.batches; ++i) {
    batches.push_back(task.batch(static_cast<uint64_t>(epoch * recipe.data.batches + i)));
    if (static_cast<int64_t>(batches.size()) < training.accumulate && i + 1 < recipe.data.batches) continue;
    const double rate =
        noam_rate(trainer.steps() + 1, recipe.model.d_model, training.factor, training.warmup);
    sums += trainer.update(batches, rate);
    batches.clear();
    if (enough(recipe, 0, trainer.steps())) break;
  }
  return sums;
}

LossSums evaluate(Trainer& trainer, const Recipe& recipe, const CopyTask& task) {
  LossSums sums;
  for (int64_t i = 0; i < recipe.data.valid_batches; ++i) sums += trainer.evaluate(task.batch(static_cast<uint64_t>(i)));
  return sums;
}

// The task's own example: 1 2 3 … as far as there are symbols, and what the model makes of it.
void show_copy(Transformer& model, const Recipe& recipe, std::ostream& results) {
  std::vector<int32_t> sentence(static_cast<size_t>(std::min(recipe.data.length, recipe.data.symbols - 1)));
  std::iota(sentence.begin(), sentence.end(), 1);
  PackedSide source;
  source.add(sentence.data(), sentence.data() + sentence.size());
  const auto outputs = decode_greedily(model, source, {.max_length = static_cast<int64_t>(sentence.size()) - 1});
  results << fmt::format("source   {}\ndecoded  1 {}\n", fmt::join(sentence, " "), fmt::join(outputs[0], " "));
}

}  // namespace

void run_training(const Recipe& recipe, std::ostream& results) {
  const int threads = recipe.training.threads > 0 ? static_cast<int>(recipe.training.threads) : available_threads();
  Device device(kernels_for(std::getenv("DRAGOMAN_ISA")), threads);
  ModelConfig config = recipe.model;
  config.source_vocabulary = config.target_vocabulary = recipe.data.symbols;
  Transformer model(config, device, true);
  model.parameters.initialise(static_cast<uint64_t>(recipe.training.seed));
  const TrainingConfig& training = recipe.training;
  Trainer trainer(model, {.adam = {training.beta1, training.beta2, training.epsilon},
                          .smoothing = {static_cast<float>(training.label_smoothing), training.smoothing_over},
                          .clip_norm = training.clip_norm,
                          .seed = static_cast<uint64_t>(training.seed)});
  log_info("{:.1f} million parameters, {} threads, {}", static_cast<double>(model.parameters.weights().size()) / 1e6,
           threads, device.kernels.name);

  const CopyTask training_task = copy_task(recipe, "training"), valid_task = copy_task(recipe, "validation");
  for (int64_t epoch = 0; !enough(recipe, epoch, trainer.steps()); ++epoch) {
    const Epoch trained = timed([&] { return train_epoch(trainer, recipe, training_task, epoch); });
    const LossSums valid = evaluate(trainer, recipe, valid_task);
    log_info("epoch {:>3}  step {:>6}  training loss {:.4f}  evaluation loss {:.4f}  {:>6.0f} tokens/s", epoch + 1,
             trainer.steps(), trained.sums.per_token(), valid.per_token(), trained.tokens_per_second());
  }
  show_copy(model, recipe, results);
}

}  // namespace dragoman
