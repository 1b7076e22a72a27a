// Every op at the sizes of real models, forward and backward, compared with the machine's limits: bench_ops --help.
//
// The ops are those of tests/ops/cases.h. Products and attention are compared with peak FLOP/s (attention on a
// processor with that of fp32, in which it is computed), the others with memory bandwidth; data that stays in a cache
// between two ops may exceed that. The last column gives each op's share of a training step, counting the op as often
// as the model uses it. On a GPU an op is compared with the nearer limit: every op reads its inputs and writes its
// outputs; and it is launched many times before the GPU is waited for.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "app/command_line.h"
#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"
#include "device_limits.h"
#include "kernels/machine_peaks.h"
#include "ops/cases.h"
#include "timing.h"
#include "workload.h"

namespace dragoman::internal {
namespace {

struct Settings {
  Size size = Size::all;
  std::string isa, filter, device = "cpu";
  Products products = Products::automatic;
  int64_t tokens = 4096, threads = 0, runs = 5, vocabulary = 0;
};

// Lengths of sentences of ordinary text with this many tokens in total.
std::vector<int32_t> ordinary_lengths(int64_t tokens) {
  Random random(1);
  std::vector<int32_t> lengths;
  while (tokens > 0) {
    lengths.push_back(static_cast<int32_t>(std::min(tokens, ordinary_length(random))));
    tokens -= lengths.back();
  }
  return lengths;
}

struct Limits {
  double operations, bytes;  // per second
  double attention;          // operations
  bool gpu = false;
};

struct Times {
  std::vector<double> forward, backward;
};

// An op with inputs of its own, so that their gradients are written, not added to, as for an activation with a single
// use.
class Trial {
 public:
  Trial(Device& device, const OpCase& op, const std::vector<Floats>& values, Precision precision)
      : device_(device),
        op_(op),
        arguments_(make_arguments(device, op, values)),
        pass_(case_pass(device, tape_, precision)) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void forward() { outputs_ = op_.run(pass_, arguments_); }
  void set_gradients() {
    for (const Tensor& output : outputs_)
      if (op_.loss_columns == 0) device_.memory.fill(output.gradient_target().matrix, 0.01F);
    outputs_.clear();
  }
  void backward() { tape_.backward(); }

 private:
  Device& device_;
  const OpCase& op_;
  OpArguments arguments_;
  Tape tape_;
  Pass pass_;
  std::vector<Tensor> outputs_;
};

// Seconds of body(trial) for all of them, one after another: a GPU is waited for once.
template <class Body>
double seconds_of_all(Device& device, std::deque<Trial>& trials, const Body& body) {
  wait_for(device);
  const double start = seconds();
  for (Trial& trial : trials) body(trial);
  wait_for(device);
  return seconds() - start;
}

// One run: the mean over `rounds`, of which `at_once` are prepared before the clock starts.
void time_case(Device& device, const OpCase& op, const std::vector<Floats>& values, Precision precision,
               int rounds, int at_once, Times& times) {
  double forward = 0, backward = 0;
  for (int done = 0; done < rounds; done += at_once) {
    std::deque<Trial> trials;
    for (int i = 0; i < at_once; ++i) trials.emplace_back(device, op, values, precision);
    forward += seconds_of_all(device, trials, [](Trial& trial) { trial.forward(); });
    for (Trial& trial : trials) trial.set_gradients();
    backward += seconds_of_all(device, trials, [](Trial& trial) { trial.backward(); });
  }
  times.forward.push_back(forward / rounds);
  times.backward.push_back(backward / rounds);
}

std::string share_of_limit(double seconds, const Work& work, const Limits& limits) {
  if (work.operations / limits.operations >= work.bytes / limits.bytes && work.operations > 0) {
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

double bytes_of(const std::vector<Floats>& values) {
  double bytes = 0;
  for (const Floats& input : values) bytes += static_cast<double>(input.size() * sizeof(float));
  return bytes;
}

// Where a case has none: what it must read and write at the least.
void count_bytes(Device& device, const OpCase& op, const std::vector<Floats>& values, Work& forward,
                 Work& backward) {
  const OpArguments arguments = make_arguments(device, op, values);
  Tape tape;
  Pass pass = case_pass(device, tape);
  const double inputs = bytes_of(values);
  double outputs = 0;
  for (const Tensor& output : op.run(pass, arguments))
    outputs += static_cast<double>(output.rows() * output.columns()) * sizeof(float);
  if (forward.bytes == 0) forward.bytes = inputs + outputs;
  if (backward.bytes == 0 && op.loss_columns == 0) backward.bytes = 2 * inputs + outputs;
}

// On a GPU, as many rounds as fill its queue, so that waiting for it counts for nothing, and no more than its memory
// has room for: with outputs and gradients, a trial takes some six times its inputs.
int rounds_at_once(Device& device, const std::vector<Floats>& values) {
  if (!is_gpu(device.kernels)) return 1;
  constexpr double memory = 16e9;
  return static_cast<int>(std::clamp(memory / (6 * bytes_of(values)), 1.0, 50.0));
}

Row bench_case(Device& device, const OpCase& op, const Limits& limits, const Settings& settings) {
  const std::vector<Floats> values = input_values(op);
  const Precision precision = precision_on(device.kernels, settings.products);
  const int at_once = rounds_at_once(device, values);
  Times warm, times;
  for (int run = 0; run < 2; ++run) time_case(device, op, values, precision, at_once, at_once, warm);
  const double estimate = warm.forward.back() + warm.backward.back();
  int rounds = static_cast<int>(std::clamp(0.05 / estimate, 1.0, 50.0));
  if (limits.gpu) rounds = at_once;
  for (int run = 0; run < settings.runs; ++run)
    time_case(device, op, values, precision, rounds, at_once, times);
  Row row = {op.name, median(times.forward), median(times.backward), op.forward, op.backward, op.uses};
  if (limits.gpu) count_bytes(device, op, values, row.forward_work, row.backward_work);
  return row;
}

// The optimiser is not an op, but it processes all weights: it reads the gradients and updates three buffers.
Row bench_adam(Device& device, const OpSizes& s, const Settings& settings) {
  const int64_t count =
      s.layers * (12 * s.d_model * s.d_model + 4 * s.d_model * s.d_ff) + s.vocabulary * s.d_model;
  const Tensor gradients = filled(device, 1, count, 0.1F), weights = filled(device, 1, count, 1),
               first = filled(device, 1, count, 0), second = filled(device, 1, count, 0);
  const AdamStep step = {.learning_rate = 1e-4F,
                         .beta1 = 0.9F,
                         .beta2 = 0.98F,
                         .epsilon = 1e-9F,
                         .correction1 = 0.5F,
                         .correction2 = 0.5F};
  const int calls = is_gpu(device.kernels) ? 20 : 1;
  std::vector<double> times;
  for (int run = 0; run <= settings.runs; ++run) {
    wait_for(device);
    const double start = seconds();
    for (int call = 0; call < calls; ++call)
      device.kernels.adam(device.context, count, step, 1, gradients.data(), weights.data(), first.data(),
                          second.data());
    wait_for(device);
    if (run > 0) times.push_back((seconds() - start) / calls);
  }
  const Work work = {.bytes = 7 * sizeof(float) * static_cast<double>(count)};
  return {
      fmt::format("adam, {:.1f} M weights", static_cast<double>(count) / 1e6), median(times), 0, work, {}, 1};
}

void bench_size(Device& device, OpSizes sizes, const Limits& limits, const Settings& settings) {
  if (settings.vocabulary > 0) sizes.vocabulary = settings.vocabulary;
  std::vector<Row> rows;
  for (const OpCase& op : large_op_cases(sizes)) {
    if (op.name.find(settings.filter) != std::string::npos)
      rows.push_back(bench_case(device, op, limits, settings));
  }
  if (settings.filter.empty()) rows.push_back(bench_adam(device, sizes, settings));
  double step = 0;
  for (const Row& row : rows) step += row.of_step();
  fmt::print("\n{}+{} layers, d_model {}, d_ff {}, heads {}, vocabulary {}: a step of {:.2f} s\n",
             sizes.layers, sizes.layers, sizes.d_model, sizes.d_ff, sizes.heads, sizes.vocabulary, step);
  fmt::print("{:<24} {:<33}   {:<33}   of the step\n", "", "forward", "backward");
  for (const Row& row : rows) {
    Limits own = limits;
    if (row.name.starts_with("attention")) own.operations = limits.attention;
    fmt::print(
        "{:<24} {}   {}   {:5.1f} %\n", row.name, share_of_limit(row.forward, row.forward_work, own),
        row.backward > 0 ? share_of_limit(row.backward, row.backward_work, own) : fmt::format("{:33}", ""),
        100 * row.of_step() / step);
  }
  std::fflush(stdout);
}

const Kernels& kernels_of(const Settings& settings) {
  if (settings.isa.empty()) return table_of(settings.device, settings.products);
  if (settings.device != "cpu")
    throw UsageError("--isa is for a processor, not for --device {}", settings.device);
  return kernels_for(settings.isa.c_str());
}

Limits measured_limits(Device& device, const Settings& settings) {
  const Precision precision = precision_on(device.kernels, settings.products);
  if (is_gpu(device.kernels)) {
    const double peak = measured_gpu_peak(device, precision);
    return {peak, measured_gpu_bandwidth(device), peak, true};
  }
  const int threads = device.context.threads();
  const double fp32 = measured_peak(threads, device.kernels.name);
  return {precision == Precision::fp32 ? fp32 : measured_peak(threads, device.kernels.name, precision),
          measured_bandwidth(threads), fp32};
}

void run(const Settings& settings) {
  const int threads = settings.threads > 0 ? static_cast<int>(settings.threads) : available_threads();
  Device device(kernels_of(settings), threads);
  const Limits limits = measured_limits(device, settings);
  const std::vector<int32_t> lengths = ordinary_lengths(settings.tokens);
  fmt::print("{}{}, {}; peak {:.1f} GFLOP/s, memory {:.1f} GB/s; {} tokens in {} sentences\n",
             device_name(device.kernels), limits.gpu ? "" : fmt::format(", threads: {}", threads),
             name_on(device.kernels, settings.products), limits.operations * 1e-9, limits.bytes * 1e-9,
             settings.tokens, lengths.size());
  for (const Size size : {Size::small, Size::base, Size::big}) {
    if (settings.size != size && (settings.size != Size::all || size == Size::big)) continue;
    const ModelSize s = model_size(size);
    bench_size(device, {s.layers, s.d_model, s.d_ff, s.heads, s.vocabulary, lengths}, limits, settings);
  }
}

int main_of(int argc, char** argv) {
  Settings settings;
  Options options;
  auto own = options.section("", "Options");
  own.add("size", settings.size, "small: d_model 256; base: 512; all: both; big: 1024",
          {{"small", Size::small}, {"base", Size::base}, {"big", Size::big}, {"all", Size::all}});
  own.add("device", settings.device, "cpu, or a GPU: cuda, cuda:1");
  own.add("precision", settings.products, "of matrix products' operands; auto: bf16 on a GPU, else fp32",
          {{"auto", Products::automatic},
           {"fp32", Products::fp32},
           {"tf32", Products::tf32},
           {"bf16", Products::bf16}});
  own.add("tokens", settings.tokens, "rows of a batch", at_least(1));
  own.add("vocabulary", settings.vocabulary, "words; 0: as many as the size says", at_least(0));
  own.add("threads", settings.threads, "0: all processors", at_least(0).at_most(1024));
  own.add("isa", settings.isa, "a processor's instruction set, such as avx2; by default the best one");
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
