// Whole training steps: real tokens a second, share of the machine's peak, memory; and, side by side in one run,
// those of another program that prints {"tokens_per_second": …, "peak_mib": …} as one JSON object a line.
//
//   bench_training --size small --against 'python3 peer.py'
//   bench_training --size small --precision bf16 --against 'bench_training --size small --rounds 1'
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/limits.h"
#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "model/held_weights.h"
#include "train/trainer.h"

namespace dragoman {
namespace {

struct Settings {
  int64_t d_model = 256, heads = 4, d_ff = 1024, layers = 3, vocabulary = 8000, batch_tokens = 4096;
  int64_t steps = 5, rounds = 5;
  int threads = 0;
  double dropout = 0.1;
  Precision precision = Precision::fp32;
  std::string against;
};

// Pairs with the lengths of ordinary text, sorted by length and packed up to batch_tokens on the larger side.
std::vector<Batch> make_batches(const Settings& settings) {
  struct Lengths {
    int64_t source, target;
  };
  Random random(1);
  std::vector<Lengths> pairs;
  for (int i = 0; i < 20000; ++i) {
    const auto clamp = [](double x) { return std::clamp<int64_t>(static_cast<int64_t>(x), 4, 100); };
    const int64_t source = clamp(std::exp(3.1 + 0.5 * random.normal()));
    pairs.push_back({source, clamp(static_cast<double>(source) * random.uniform(0.8, 1.25))});
  }
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

// Multiplications and additions of an update's matrix products, attention's included.
double flops(const Settings& s, const Batch& batch) {
  const double d = static_cast<double>(s.d_model), ff = static_cast<double>(s.d_ff);
  const double source = static_cast<double>(batch.source_tokens()),
               target = static_cast<double>(batch.target_tokens());
  double scores = 0;  // query-key pairs of a layer of each of the three attentions
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

struct Round {
  double tokens_per_second = 0, gflops = 0, peak_mib = 0;
};

class Ours {
 public:
  explicit Ours(const Settings& settings)
      : settings_(settings),
        device_(kernels_for(std::getenv("DRAGOMAN_ISA")), settings.threads),
        model_(config(settings), device_, Buffers::weights_and_gradients),
        trainer_(model_, {.precision = settings.precision}),
        batches_(make_batches(settings)) {
    model_.parameters.initialise(1);
    for (int i = 0; i < 2; ++i) step();
  }

  Round round() {
    const auto begin = std::chrono::steady_clock::now();
    double tokens = 0, work = 0;
    for (int64_t i = 0; i < settings_.steps; ++i) {
      const Batch& batch = step();
      tokens += static_cast<double>(batch.source_tokens() + batch.target_tokens());
      work += flops(settings_, batch);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return {tokens / seconds, work / seconds / 1e9, static_cast<double>(usage.ru_maxrss) / 1024};
  }

  Device& device() { return device_; }

 private:
  static ModelConfig config(const Settings& s) {
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

  const Batch& step() {
    const Batch& batch = batches_[next_++ % batches_.size()];
    trainer_.update({&batch, 1}, 1e-4);
    return batch;
  }

  Settings settings_;
  Device device_;
  Transformer model_;
  Trainer trainer_;
  std::vector<Batch> batches_;
  size_t next_ = 0;
};

Round run_peer(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  CHECK(pipe != nullptr, "cannot run {}", command);
  std::string output;
  for (char buffer[4096]; fgets(buffer, sizeof buffer, pipe) != nullptr;) output += buffer;
  if (pclose(pipe) != 0) throw Error("the other program failed: " + command);
  const size_t begin = output.rfind("{\"");
  if (begin == std::string::npos) throw Error("the other program printed no JSON object: " + command);
  const auto json = nlohmann::json::parse(output.substr(begin));
  return {json.at("tokens_per_second"), 0, json.at("peak_mib")};
}

template <class Field>
double median(std::vector<Round> rounds, Field field) {
  std::ranges::sort(rounds, {}, field);
  return rounds[rounds.size() / 2].*field;
}

void run(const Settings& settings) {
  Ours ours(settings);
  const double peak =
      measured_peak(ours.device().context, ours.device().kernels.name, settings.precision) / 1e9;
  fmt::print("d_model {}, {}+{} layers, d_ff {}, vocabulary {}, {} threads, {}, {}, peak {:.0f} GFLOP/s\n",
             settings.d_model, settings.layers, settings.layers, settings.d_ff, settings.vocabulary,
             settings.threads, ours.device().kernels.name, name_of(settings.precision), peak);
  std::vector<Round> mine, theirs, ratios;
  for (int64_t i = 0; i < settings.rounds; ++i) {
    mine.push_back(ours.round());
    fmt::print("  {:8.0f} tokens/s  {:5.1f} % of the peak", mine.back().tokens_per_second,
               100 * mine.back().gflops / peak);
    if (!settings.against.empty()) {
      theirs.push_back(run_peer(settings.against));
      ratios.push_back({mine.back().tokens_per_second / theirs.back().tokens_per_second});
      fmt::print("   theirs {:8.0f}   ratio {:.2f}", theirs.back().tokens_per_second,
                 ratios.back().tokens_per_second);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print("median {:.0f} tokens/s, {:.1f} % of the peak, {:.0f} MiB",
             median(mine, &Round::tokens_per_second), 100 * median(mine, &Round::gflops) / peak,
             mine.back().peak_mib);
  if (!theirs.empty()) {
    fmt::print("; theirs {:.0f} tokens/s, {:.0f} MiB: {:.2f} times the speed, {:.2f} of the memory",
               median(theirs, &Round::tokens_per_second), median(theirs, &Round::peak_mib),
               median(ratios, &Round::tokens_per_second),
               mine.back().peak_mib / median(theirs, &Round::peak_mib));
  }
  const nlohmann::ordered_json result = {{"tokens_per_second", median(mine, &Round::tokens_per_second)},
                                         {"peak_mib", mine.back().peak_mib}};
  fmt::print("\n{}\n", result.dump());
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) try {
  using namespace dragoman;
  Settings settings;
  std::string size = "small";
  CLI::App app("Real source + target tokens a second of whole training steps");
  app.add_option("--size", size, "small: d 256, 3+3, vocabulary 8,000; base: d 512, 6+6, 16,000")
      ->check(CLI::IsMember({"small", "base"}));
  app.add_option("--batch-tokens", settings.batch_tokens, "of the larger side");
  app.add_option("--steps", settings.steps, "in a round");
  app.add_option("--rounds", settings.rounds, "of which the median counts");
  app.add_option("--threads", settings.threads, "0: all");
  app.add_option("--precision", settings.precision, "of matrix products' operands")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Precision>{{"fp32", Precision::fp32}, {"bf16", Precision::bf16}}));
  app.add_option("--dropout", settings.dropout, "all four");
  app.add_option("--against", settings.against, "another program, run once a round");
  CLI11_PARSE(app, argc, argv);
  if (size == "base") {
    settings = {.d_model = 512,
                .heads = 8,
                .d_ff = 2048,
                .layers = 6,
                .vocabulary = 16000,
                .batch_tokens = settings.batch_tokens,
                .steps = settings.steps,
                .rounds = settings.rounds,
                .threads = settings.threads,
                .dropout = settings.dropout,
                .precision = settings.precision,
                .against = settings.against};
  }
  if (settings.threads == 0) settings.threads = available_threads();
  run(settings);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_training: {}\n", error.what());
  return 1;
}
