// Every op at the sizes of real models, forward and backward, compared with the machine's limits: bench_ops --help.
//
// The ops are those of tests/ops/cases.h. Products and attention are compared with peak FLOP/s, the others with memory
// bandwidth; data that stays in a cache between two ops may exceed that. The last column gives each op's share of a
// training step, counting the op as often as the model uses it.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "app/command_line.h"
#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "kernels/machine_peaks.h"
#include "ops/cases.h"

namespace dragoman::internal {
namespace {

enum class Size { small, base, all };

struct Settings {
  Size size = Size::all;
  std::string isa, filter;
  int64_t tokens = 4096, threads = 0, runs = 5;
};

// Lengths of sentences of ordinary text with this many tokens in total.
std::vector<int32_t> ordinary_lengths(int64_t tokens) {
  Random random(1);
  std::vector<int32_t> lengths;
  while (tokens > 0) {
    const double length = std::clamp(std::exp(3.1 + 0.5 * random.normal()), 4.0, 100.0);
    lengths.push_back(static_cast<int32_t>(std::min<int64_t>(tokens, static_cast<int64_t>(length))));
    tokens -= lengths.back();
  }
  return lengths;
}

struct Limits {
  double operations, bytes;  // per second
};

struct Times {
  std::vector<double> forward, backward;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// One run: the mean over `rounds`. Each round creates its inputs anew, so that their gradients are written, not added
// to, as for an activation with a single use.
void time_case(Device& device, const OpCase& op, const std::vector<Floats>& values, int rounds,
               Times& times) {
  double forward = 0, backward = 0;
  for (int i = 0; i < rounds; ++i) {
    const OpArguments arguments = make_arguments(device, op, values);
    Tape tape;
    Pass pass = case_pass(device, tape);
    const double start = seconds();
    std::vector<Tensor> outputs = op.run(pass, arguments);
    forward += seconds() - start;
    for (const Tensor& output : outputs) {
      if (!op.loss)
        std::fill_n(output.gradient_target().matrix.data, output.rows() * output.columns(), 0.01F);
    }
    outputs.clear();
    const double middle = seconds();
    tape.backward();
    backward += seconds() - middle;
  }
  times.forward.push_back(forward / rounds);
  times.backward.push_back(backward / rounds);
}

std::string share_of_limit(double seconds, const Work& work, const Limits& limits) {
  if (work.operations > 0) {
    return fmt::format("{:8.3f} ms {:7.1f} GFLOP/s {:4.0f} %", seconds * 1e3,
                       work.operations / seconds * 1e-9, 100 * work.operations / seconds / limits.operations);
  }
  if (work.bytes > 0) {
    return fmt::format("{:8.3f} ms {:7.1f} GB/s    {:4.0f} %", seconds * 1e3, work.bytes / seconds * 1e-9,
                       100 * work.bytes / seconds / limits.bytes);
  }
  return fmt::format("{:>33}", "(during forward)");
}

// The measurements of one op.
struct Row {
  std::string name;
  double forward, backward;  // seconds; backward is 0 if there is none
  Work forward_work, backward_work;
  int64_t uses;  // per training step

  double of_step() const { return static_cast<double>(uses) * (forward + backward); }
};

Row bench_case(Device& device, const OpCase& op, const Settings& settings) {
  const std::vector<Floats> values = input_values(op);
  Times warm, times;
  time_case(device, op, values, 1, warm);
  time_case(device, op, values, 1, warm);
  const double estimate = warm.forward.back() + warm.backward.back();
  const int rounds = static_cast<int>(std::clamp(0.05 / estimate, 1.0, 50.0));
  for (int run = 0; run < settings.runs; ++run) time_case(device, op, values, rounds, times);
  return {op.name, median(times.forward), median(times.backward), op.forward, op.backward, op.uses};
}

// The optimiser is not an op, but it processes all weights: it reads the gradients and updates three buffers.
Row bench_adam(Device& device, const OpSizes& s, const Settings& settings) {
  const int64_t count =
      s.layers * (12 * s.d_model * s.d_model + 4 * s.d_model * s.d_ff) + s.vocabulary * s.d_model;
  const auto size = static_cast<size_t>(count);
  std::vector<float> gradients(size, 0.1F), weights(size, 1.0F), first(size), second(size);
  const AdamStep step = {.learning_rate = 1e-4F,
                         .beta1 = 0.9F,
                         .beta2 = 0.98F,
                         .epsilon = 1e-9F,
                         .correction1 = 0.5F,
                         .correction2 = 0.5F};
  std::vector<double> times;
  for (int run = 0; run <= settings.runs; ++run) {
    const double start = seconds();
    device.kernels.adam(device.context, count, step, 1, gradients.data(), weights.data(), first.data(),
                        second.data());
    if (run > 0) times.push_back(seconds() - start);
  }
  const Work work = {.bytes = 7 * sizeof(float) * static_cast<double>(count)};
  return {
      fmt::format("adam, {:.1f} M weights", static_cast<double>(count) / 1e6), median(times), 0, work, {}, 1};
}

void bench_size(Device& device, const OpSizes& sizes, const Limits& limits, const Settings& settings) {
  std::vector<Row> rows;
  for (const OpCase& op : large_op_cases(sizes)) {
    if (op.name.find(settings.filter) != std::string::npos) rows.push_back(bench_case(device, op, settings));
  }
  if (settings.filter.empty()) rows.push_back(bench_adam(device, sizes, settings));
  double step = 0;
  for (const Row& row : rows) step += row.of_step();
  fmt::print("\n{}+{} layers, d_model {}, d_ff {}, heads {}, vocabulary {}: a step of {:.2f} s\n",
             sizes.layers, sizes.layers, sizes.d_model, sizes.d_ff, sizes.heads, sizes.vocabulary, step);
  fmt::print("{:<24} {:<33}   {:<33}   of the step\n", "", "forward", "backward");
  for (const Row& row : rows) {
    fmt::print(
        "{:<24} {}   {}   {:5.1f} %\n", row.name, share_of_limit(row.forward, row.forward_work, limits),
        row.backward > 0 ? share_of_limit(row.backward, row.backward_work, limits) : fmt::format("{:33}", ""),
        100 * row.of_step() / step);
  }
  std::fflush(stdout);
}

void run(const Settings& settings) {
  const int threads = settings.threads > 0 ? static_cast<int>(settings.threads) : available_threads();
  Device device(kernels_for(settings.isa.empty() ? std::getenv("DRAGOMAN_ISA") : settings.isa.c_str()),
                threads);
  const Limits limits = {measured_peak(device.context.threads(), device.kernels.name),
                         measured_bandwidth(device.context.threads())};
  const std::vector<int32_t> lengths = ordinary_lengths(settings.tokens);
  fmt::print("{}, threads: {}; peak {:.1f} GFLOP/s, memory {:.1f} GB/s; {} tokens in {} sentences\n",
             device.kernels.name, threads, limits.operations * 1e-9, limits.bytes * 1e-9, settings.tokens,
             lengths.size());
  if (settings.size != Size::base) {
    bench_size(
        device,
        {.layers = 3, .d_model = 256, .d_ff = 1024, .heads = 4, .vocabulary = 8000, .lengths = lengths},
        limits, settings);
  }
  if (settings.size != Size::small) {
    bench_size(
        device,
        {.layers = 6, .d_model = 512, .d_ff = 2048, .heads = 8, .vocabulary = 16000, .lengths = lengths},
        limits, settings);
  }
}

int main_of(int argc, char** argv) {
  Settings settings;
  Options options;
  auto own = options.section("", "Options");
  own.add("size", settings.size, "small: d_model 256; base: 512",
          {{"small", Size::small}, {"base", Size::base}, {"all", Size::all}});
  own.add("tokens", settings.tokens, "rows of a batch", at_least(1));
  own.add("threads", settings.threads, "0: all processors", at_least(0).at_most(1024));
  own.add("isa", settings.isa, "instruction set: baseline, avx2 or avx512; by default the best one");
  own.add("runs", settings.runs, "timed runs of each", at_least(1));
  own.add("filter", settings.filter, "only ops whose name contains this");
  CommandLine line("bench_ops", "every op's speed, forward and backward, as a share of this machine's limits",
                   "bench_ops");
  line.add_options(options);
  try {
    if (!line.parse({argv + 1, argv + argc})) return 0;
    line.set_flags();
    run(settings);
  } catch (const Error& error) {
    fmt::print(stderr, "bench_ops: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace dragoman::internal

int main(int argc, char** argv) { return dragoman::internal::main_of(argc, argv); }
