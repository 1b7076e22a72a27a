// How the cost of training grows: tokens a second, share of the peak and memory over the tokens of a batch, the length
// of sentences, the vocabulary and the width, each alone beside a small model's usual values.
//
//   bench_growth [--out FILE.svg]      a table, and the speeds as a figure
//
// Each point is measured in a process of its own, so that its peak of memory is its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/error.h"
#include "base/files.h"
#include "kernels/machine_peaks.h"
#include "report/plot.h"
#include "training_steps.h"

namespace dragoman {
namespace {

struct Growing {
  const char* name;
  int64_t StepsSettings::*value;
  std::vector<int64_t> points;
};

const Growing axes[] = {
    {"tokens of a batch", &StepsSettings::batch_tokens, {512, 1024, 2048, 4096, 8192, 16384, 32768}},
    {"length of sentences", &StepsSettings::length, {8, 16, 32, 64, 128, 256, 512}},
    {"vocabulary", &StepsSettings::vocabulary, {2000, 4000, 8000, 16000, 32000, 64000}},
    {"d_model", &StepsSettings::d_model, {64, 128, 256, 512, 1024}},
};

StepsSettings settings_at(const Growing& axis, int64_t point) {
  StepsSettings settings;
  settings.part_tokens = 0;  // the cost of a batch is that of its tokens at once
  settings.*axis.value = point;
  settings.heads = settings.d_model / 64;
  settings.d_ff = 4 * settings.d_model;
  settings.threads = single_process().share_of_threads();
  return settings;
}

struct Measured {
  double tokens_per_second, share_of_peak, peak_mib;
};

// What work() returns, in a process of its own.
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
    } catch (...) {
      _exit(1);
    }
  }
  close(pipe_ends[1]);
  Result result = {};
  const bool whole = read(pipe_ends[0], &result, sizeof result) == sizeof result;
  close(pipe_ends[0]);
  waitpid(child, nullptr, 0);
  if (!whole) throw Error("a measurement ended without a result: was there enough memory?");
  return result;
}

// In billions of operations a second.
double peak_of_machine() {
  Device device(kernels_for(std::getenv("DRAGOMAN_ISA")), single_process().share_of_threads());
  return measured_peak(device.context.threads(), device.kernels.name) / 1e9;
}

// As many steps as about two seconds have, thrice; the median.
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
                     .x_title = "doublings of the least value (512 tokens, 8 of length, 2,000 words, d 64)",
                     .y_title = "per cent of the measured peak",
                     .curves = {}};
  const double peak = apart(peak_of_machine);
  fmt::print("peak {:.0f} GFLOP/s\n", peak);
  for (const Growing& axis : axes) chart.curves.push_back(measure_axis(axis, peak));
  if (!out.empty()) write_file(out, {svg(chart)});
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) try {
  std::string out;
  CLI::App app("How the cost of training grows with batches, sentences, vocabulary and width");
  app.add_option("--out", out, "an SVG file for the figure");
  CLI11_PARSE(app, argc, argv);
  dragoman::run(out);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_growth: {}\n", error.what());
  return 1;
}
