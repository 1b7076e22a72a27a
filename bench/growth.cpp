// How the cost of training scales: tokens per second, share of the peak and memory over tokens per batch, sentence
// length, vocabulary size and width, varying one at a time from the values of a small model.
//
//   bench_growth [--out FILE.svg]      a table, and the speeds as a figure
//
// Each point is measured in its own process, so that peak memory is measured per point.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <fmt/core.h>

#include "app/command_line.h"
#include "base/error.h"
#include "base/files.h"
#include "kernels/machine_peaks.h"
#include "report/plot.h"
#include "training_steps.h"

namespace dragoman::internal {
namespace {

struct Growing {
  const char* name;
  int64_t StepsSettings::*value;
  std::vector<int64_t> points;
};

const Growing axes[] = {
    {"tokens per batch", &StepsSettings::batch_tokens, {512, 1024, 2048, 4096, 8192, 16384, 32768}},
    {"sentence length", &StepsSettings::length, {8, 16, 32, 64, 128, 256, 512}},
    {"vocabulary size", &StepsSettings::vocabulary, {2000, 4000, 8000, 16000, 32000, 64000}},
    {"d_model", &StepsSettings::d_model, {64, 128, 256, 512, 1024}},
};

StepsSettings settings_at(const Growing& axis, int64_t point) {
  StepsSettings settings;
  settings.part_tokens = 0;  // the whole batch at once
  settings.*axis.value = point;
  settings.heads = settings.d_model / 64;
  settings.d_ff = 4 * settings.d_model;
  settings.threads = single_process().share_of_threads();
  return settings;
}

struct Measured {
  double tokens_per_second, share_of_peak, peak_mib;
};

// Runs work() in its own process and returns its result.
template <class Work>
auto apart(Work work) {
  using Result = decltype(work());
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    try {
      const Result result = work();
      _exit(write(pipe_ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
  }
  close(pipe_ends[1]);
  Result result = {};
  const bool whole = read(pipe_ends[0], &result, sizeof result) == sizeof result;
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  if (!whole) throw Error("a measurement ended without a result, perhaps for lack of memory");
  return result;
}

// In billions of operations per second.
double peak_of_machine() {
  Device device(kernels_for(std::getenv("DRAGOMAN_ISA")), single_process().share_of_threads());
  return measured_peak(device.context.threads(), device.kernels.name) / 1e9;
}

// The median of three runs of about two seconds each.
Measured measure(StepsSettings settings, double peak) {
  settings.steps = 1;
  TrainingSteps steps(settings, single_process());
  const double wanted = 2 * steps.round().tokens_per_second;
  steps.set_steps(
      std::max<int64_t>(2, static_cast<int64_t>(wanted / (2 * static_cast<double>(settings.batch_tokens)))));
  std::vector<StepsRound> rounds;
  for (int i = 0; i < 3; ++i) rounds.push_back(steps.round());
  std::ranges::sort(rounds, {}, &StepsRound::tokens_per_second);
  return {rounds[1].tokens_per_second, rounds[1].gflops / peak, rounds[1].peak_mib};
}

ChartCurve measure_axis(const Growing& axis, double peak) {
  ChartCurve curve = {.name = axis.name, .points = {}};
  fmt::print("\n{:>20}  tokens/s  of the peak      MiB\n", axis.name);
  for (const int64_t point : axis.points) {
    const Measured m = apart([&] { return measure(settings_at(axis, point), peak); });
    fmt::print("{:>20}  {:8.0f}  {:9.1f} %  {:7.0f}\n", point, m.tokens_per_second, 100 * m.share_of_peak,
               m.peak_mib);
    std::fflush(stdout);
    curve.points.push_back(
        {std::log2(static_cast<double>(point) / static_cast<double>(axis.points[0])), 100 * m.share_of_peak});
  }
  return curve;
}

void run(const std::string& out) {
  LineChart chart = {.title = "Training: share of the machine's peak as sizes grow",
                     .x_title = "doublings of the smallest value (512 tokens, length 8, 2,000 words, d 64)",
                     .y_title = "percentage of the measured peak",
                     .curves = {}};
  const double peak = apart(peak_of_machine);
  fmt::print("peak {:.0f} GFLOP/s\n", peak);
  for (const Growing& axis : axes) chart.curves.push_back(measure_axis(axis, peak));
  if (!out.empty()) write_file(out, {svg(chart)});
}

}  // namespace
}  // namespace dragoman::internal

int main(int argc, char** argv) try {
  std::string out;
  dragoman::internal::Options options;
  options.section("", "Options").add("out", out, "an SVG file for the figure");
  dragoman::internal::CommandLine line(
      "bench_growth", "how the cost of training grows with batches, sentences, vocabulary and width",
      "bench_growth");
  line.add_options(options);
  if (!line.parse({argv + 1, argv + argc})) return 0;
  line.set_flags();
  dragoman::internal::run(out);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_growth: {}\n", error.what());
  return 1;
}
