// Training steps on synthetic sentences with the lengths of ordinary text: bench_training compares their speed with
// other programs, bench_growth over many sizes.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/random.h"
#include "device_limits.h"
#include "train/recipe.h"
#include "train/trainer.h"
#include "workload.h"

namespace dragoman::internal {

struct StepsSettings {
  int64_t d_model = 256, heads = 4, d_ff = 1024, layers = 3, vocabulary = 8000, batch_tokens = 4096;
  int64_t part_tokens = 2048;  // as training has on a processor
  int64_t steps = 5, rounds = 5;
  int threads = 0;
  double dropout = 0.1;
  Precision precision = Precision::fp32;
  int64_t length = 0;                // of every sentence; 0: as in ordinary text
  int64_t slice = 0;                 // floats that are reduced at a time
  const Kernels* kernels = nullptr;  // null: those of the processor that DRAGOMAN_ISA names
};

// Pairs with the lengths of ordinary text, sorted by length and packed up to batch_tokens on the larger side.
inline std::vector<Batch> make_batches(const StepsSettings& settings) {
  struct Lengths {
    int64_t source, target;
  };
  Random random(1);
  std::vector<Lengths> pairs;
  for (int i = 0; i < 20000 && settings.length == 0; ++i) {
    const int64_t source = ordinary_length(random);
    pairs.push_back({source, clamp_length(static_cast<double>(source) * random.uniform(0.8, 1.25))});
  }
  const int64_t equal = settings.length > 0 ? 16 * (settings.batch_tokens / settings.length + 1) : 0;
  pairs.resize(pairs.size() + static_cast<size_t>(equal), {settings.length, settings.length - 1});
  std::ranges::sort(
      pairs, [](auto a, auto b) { return std::pair(a.source, a.target) < std::pair(b.source, b.target); });

  std::vector<Batch> batches(1);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [source, target] = pairs[i];
    Batch* batch = &batches.back();
    if (std::max(batch->source_tokens() + source, batch->target_tokens() + target + 1) >
        settings.batch_tokens) {
      batch = &batches.emplace_back();
    }
    const auto word = [&] {
      return 3 + static_cast<int32_t>(random.below(static_cast<uint64_t>(settings.vocabulary - 3)));
    };
    std::vector<int32_t> ids(static_cast<size_t>(source));
    std::ranges::generate(ids, word);
    batch->source.add(ids.data(), ids.data() + ids.size());
    ids.resize(static_cast<size_t>(target));
    std::ranges::generate(ids, word);
    batch->targets.insert(batch->targets.end(), ids.begin(), ids.end());
    batch->targets.push_back(2);
    ids.insert(ids.begin(), 1);
    batch->target_input.add(ids.data(), ids.data() + ids.size());
    batch->pairs.push_back(i);
  }
  for (size_t i = batches.size() - 1; i > 0; --i) std::swap(batches[i], batches[random.below(i + 1)]);
  return batches;
}

// FLOPs of an update's matrix products, including attention.
inline double flops(const StepsSettings& s, const Batch& batch) {
  const double d = static_cast<double>(s.d_model), ff = static_cast<double>(s.d_ff);
  const double source = static_cast<double>(batch.source_tokens()),
               target = static_cast<double>(batch.target_tokens());
  double scores = 0;  // query-key pairs of one layer, for each of the three attentions
  for (size_t i = 0; i < batch.pairs.size(); ++i) {
    const double n = batch.source.lengths[i], m = batch.target_input.lengths[i];
    scores += n * n + m * m + m * n;
  }
  const double encoder = source * (4 * d * d + 2 * d * ff);
  const double decoder = target * (6 * d * d + 2 * d * ff) + source * 2 * d * d;
  const double products = static_cast<double>(s.layers) * (encoder + decoder + 2 * d * scores) +
                          target * d * static_cast<double>(s.vocabulary);
  return 3 * 2 * products;
}

struct StepsRound {
  double tokens_per_second = 0, gflops = 0, peak_mib = 0;
  double waiting = 0;  // share of the time spent waiting for other processes
};

// This process's share of the steps, if several were started together.
class TrainingSteps {
 public:
  TrainingSteps(const StepsSettings& settings, Processes& processes)
      : settings_(settings),
        processes_(processes),
        device_(settings.kernels != nullptr ? *settings.kernels : chosen_kernels(), settings.threads),
        model_(config(settings), device_, Buffers::weights_and_gradients),
        trainer_(
            model_,
            {.part_tokens = settings.part_tokens, .precision = settings.precision, .slice = settings.slice},
            processes),
        batches_(make_batches(settings)) {
    model_.parameters.initialise(1);
    for (int i = 0; i < 2; ++i) step();
    wait_for(device_);
  }

  StepsRound round() {
    processes_.gather('\0');
    const auto begin = std::chrono::steady_clock::now();
    const double waited = processes_.seconds_waited();
    double tokens = 0, work = 0;
    for (int64_t i = 0; i < settings_.steps; ++i) {
      const LossSums sums = step();
      tokens += static_cast<double>(sums.source_tokens + sums.target_tokens);
      work += flops(settings_, *last_) * processes_.count();
    }
    wait_for(device_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return {tokens / seconds, work / seconds / 1e9, peak_mib(),
            (processes_.seconds_waited() - waited) / seconds};
  }

  Device& device() { return device_; }
  void set_steps(int64_t steps) { settings_.steps = steps; }  // per round

 private:
  static ModelConfig config(const StepsSettings& s) {
    return {.encoder_layers = s.layers,
            .decoder_layers = s.layers,
            .d_model = s.d_model,
            .heads = s.heads,
            .d_ff = s.d_ff,
            .tied = Tied::all,
            .dropout = s.dropout,
            .attention_dropout = s.dropout,
            .activation_dropout = s.dropout,
            .embedding_dropout = s.dropout,
            .source_vocabulary = s.vocabulary,
            .target_vocabulary = s.vocabulary};
  }

  // Of a GPU's memory, that which holds tensors.
  double peak_mib() const {
    if (is_gpu(device_.kernels)) return static_cast<double>(device_.pool.high_water_mark()) / (1 << 20);
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  }

  LossSums step() {
    const auto turn =
        next_++ * static_cast<size_t>(processes_.count()) + static_cast<size_t>(processes_.number());
    last_ = &batches_[turn % batches_.size()];
    return trainer_.update({last_, 1}, 1e-4);
  }

  StepsSettings settings_;
  Processes& processes_;
  Device device_;
  Transformer model_;
  Trainer trainer_;
  std::vector<Batch> batches_;
  size_t next_ = 0;
  const Batch* last_ = nullptr;
};

}  // namespace dragoman::internal
