// Whole training steps: tokens per second without padding, share of the machine's peak, memory; and side by side, in
// one run, those of another program that prints {"tokens_per_second": …, "peak_mib": …} as a JSON object on one line.
//
//   bench_training --size small --against 'python3 peer.py'
//   bench_training --size small --precision bf16 --against 'bench_training --size small --rounds 1'
//   bench_training --size base --device cuda --batch-tokens 25000 --against 'python3 peer.py'
//   mpirun -np 2 bench_training --size small        the same with several processes, and how long they wait
#include <cstdio>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "base/error.h"
#include "kernels/machine_peaks.h"
#include "parallel/join.h"
#include "training_steps.h"

namespace dragoman::internal {
namespace {

void set_size(const ModelSize& size, StepsSettings& settings) {
  settings.d_model = size.d_model;
  settings.heads = size.heads;
  settings.d_ff = size.d_ff;
  settings.layers = size.layers;
  settings.vocabulary = size.vocabulary;
}

StepsRound run_peer(const std::string& command) {
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
double median(std::vector<StepsRound> rounds, Field field) {
  std::ranges::sort(rounds, {}, field);
  return rounds[rounds.size() / 2].*field;
}

// Alternates runs of ours and of the other program.
class Comparison {
 public:
  Comparison(const StepsSettings& settings, Processes& processes, const std::string& against,
             const std::string& precision)
      : settings_(settings),
        processes_(processes),
        against_(against),
        precision_(precision),
        ours_(settings, processes) {}

  void run() {
    peak_ = measured_peak_of(ours_.device()) / 1e9 * processes_.count();
    print(
        "d_model {0}, {1}+{1} layers, d_ff {2}, vocabulary {3}, {4} x {5} threads, {6}, {7}, peak {8:.0f} "
        "GFLOP/s\n",
        settings_.d_model, settings_.layers, settings_.d_ff, settings_.vocabulary, processes_.count(),
        settings_.threads, device_name(ours_.device().kernels), precision_, peak_);
    for (int64_t i = 0; i < settings_.rounds; ++i) round();
    print_medians();
  }

 private:
  double measured_peak_of(Device& device) const {
    if (is_gpu(device.kernels)) return measured_gpu_peak(device, settings_.precision);
    return measured_peak(device.context.threads(), device.kernels.name, settings_.precision);
  }

  template <class... Values>
  void print(fmt::format_string<Values...> text, Values&&... values) {
    if (processes_.first()) fmt::print(text, std::forward<Values>(values)...);
    std::fflush(stdout);
  }

  void round() {
    mine_.push_back(ours_.round());
    const StepsRound& mine = mine_.back();
    print("  {:8.0f} tokens/s  {:5.1f} % of the peak", mine.tokens_per_second, 100 * mine.gflops / peak_);
    if (processes_.count() > 1) print("   waiting {:4.1f} %", 100 * mine.waiting);
    if (!against_.empty()) {
      theirs_.push_back(run_peer(against_));
      ratios_.push_back({mine.tokens_per_second / theirs_.back().tokens_per_second});
      print("   theirs {:8.0f}   ratio {:.2f}", theirs_.back().tokens_per_second,
            ratios_.back().tokens_per_second);
    }
    print("\n");
  }

  void print_medians() {
    print("median {:.0f} tokens/s, {:.1f} % of the peak, {:.0f} MiB",
          median(mine_, &StepsRound::tokens_per_second), 100 * median(mine_, &StepsRound::gflops) / peak_,
          mine_.back().peak_mib);
    if (processes_.count() > 1) print(", waiting {:.1f} %", 100 * median(mine_, &StepsRound::waiting));
    if (!theirs_.empty()) {
      print("; theirs {:.0f} tokens/s, {:.0f} MiB: {:.2f} times the speed, {:.2f} of the memory",
            median(theirs_, &StepsRound::tokens_per_second), median(theirs_, &StepsRound::peak_mib),
            median(ratios_, &StepsRound::tokens_per_second),
            mine_.back().peak_mib / median(theirs_, &StepsRound::peak_mib));
    }
    const nlohmann::ordered_json result = {
        {"tokens_per_second", median(mine_, &StepsRound::tokens_per_second)},
        {"peak_mib", mine_.back().peak_mib}};
    print("\n{}\n", result.dump());
  }

  StepsSettings settings_;
  Processes& processes_;
  std::string against_, precision_;
  TrainingSteps ours_;
  double peak_ = 0;
  std::vector<StepsRound> mine_, theirs_, ratios_;
};

}  // namespace
}  // namespace dragoman::internal

int main(int argc, char** argv) try {
  using namespace dragoman::internal;
  StepsSettings settings;
  Size size = Size::small;
  Products products = Products::automatic;
  int64_t threads = 0, vocabulary = 0, part_tokens = -1;
  std::string against, device = "cpu";
  Options options;
  auto own = options.section("", "Options");
  own.add("size", size,
          "small: d 256, 3+3, vocabulary 8,000; base: d 512, 6+6, 16,000; big: d 1024, 6+6, 32,000",
          {{"small", Size::small}, {"base", Size::base}, {"big", Size::big}});
  own.add("vocabulary", vocabulary, "words; 0: as many as the size says", at_least(0));
  own.add("device", device, "cpu, or a GPU: cuda, cuda:1");
  own.add("batch-tokens", settings.batch_tokens, "of the larger side", at_least(1));
  own.add("part-tokens", part_tokens, "of them that are worked on at once; 0: all; -1: on a processor 2,048",
          at_least(-1));
  own.add("steps", settings.steps, "in a round", at_least(1));
  own.add("rounds", settings.rounds, "of which the median counts", at_least(1));
  own.add("threads", threads, "0: all, or a process's share", at_least(0).at_most(1024));
  own.add("precision", products, "of matrix products' operands; auto: bf16 on a GPU, else fp32",
          {{"auto", Products::automatic},
           {"fp32", Products::fp32},
           {"tf32", Products::tf32},
           {"bf16", Products::bf16}});
  own.add("dropout", settings.dropout, "all four", at_least(0).below(1));
  own.add("slice", settings.slice, "floats that processes sum at a time; one slice: after backward",
          at_least(0));
  own.add("against", against, "another program, run once a round");
  CommandLine line("bench_training", "real source + target tokens a second of whole training steps",
                   "bench_training");
  line.add_options(options);
  if (!line.parse({argv + 1, argv + argc})) return 0;
  line.set_flags();
  settings.threads = static_cast<int>(threads);
  set_size(model_size(size), settings);
  if (vocabulary > 0) settings.vocabulary = vocabulary;
  const auto processes = join_processes();
  settings.kernels = &table_of(device, products);
  settings.precision = precision_on(*settings.kernels, products);
  if (is_gpu(*settings.kernels)) settings.part_tokens = 0;
  if (part_tokens >= 0) settings.part_tokens = part_tokens;
  if (processes->count() > 1 && !against.empty())
    throw UsageError("--against works with a single process only");
  processes->use_device(*settings.kernels);
  if (settings.threads == 0) settings.threads = processes->share_of_threads();
  Comparison(settings, *processes, against, name_on(*settings.kernels, products)).run();
  processes->shutdown();
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_training: {}\n", error.what());
  return 1;
}
