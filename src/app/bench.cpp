// dragoman bench: translation speed on this machine, compared with the machine's limits.
#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/decoding_speed.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/quotes.h"
#include "kernels/devices.h"
#include "kernels/machine_peaks.h"
#include "model/decoding_weights.h"
#include "model/folder.h"
#include "model/weights_file.h"

namespace dragoman::internal {
namespace {

struct BenchOptions {
  std::string model, text;
  int64_t vocabulary = 32000, workers = 0, rounds = 5;
  MachineOptions machine;
  std::vector<int64_t> batch = {1, 32}, beam = {1, 4};
  DecodingLoad load;
  OutputFormat format = OutputFormat::text;
};

void declare(Options& options, BenchOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, "model folder; by default random weights in the size of [model]");
  own.add("vocabulary", o.vocabulary, "vocabulary size of random weights", at_least(4).at_most(1'000'000));
  declare_precision(own, o.machine.precision);
  own.add("batch", o.batch, "sentences per batch; each number is measured", at_least(1));
  own.add("beam", o.beam, "beam size; each number is measured", at_least(1).at_most(1000));
  own.add("text", o.text, "text file to translate instead of random sentences").shows("FILE");
  own.add("length", o.load.length, "tokens of each random sentence and of its translation",
          at_least(1).at_most(1000));
  own.add("sentences", o.load.sentences, "random sentences per round; a quarter of them for a batch of 1",
          at_least(1));
  own.add("rounds", o.rounds, "rounds; the median is reported", at_least(1).at_most(1000));
  own.add("cache", o.load.kept,
          "what decoding caches between steps; all: keys and values of every attention; cross: only those of "
          "cross-attention; encoder: only the encoder's output; none: nothing",
          {{"all", DecodingCache::all},
           {"cross", DecodingCache::cross},
           {"encoder", DecodingCache::encoder},
           {"none", DecodingCache::none}});
  declare_machine(own, o.machine.device, o.machine.threads);
  declare_workers(own, o.workers);
  declare_format(own, o.format, "a table, or one JSON object per line");
}

// What the rows were measured on, and the most that it can do.
struct MachineLimits {
  int threads;
  std::string instruction_set;  // or the GPU
  Precision precision;
  // A second: on registers, and of the weights, which may be in a cache. 0: not known.
  double operations, bytes;
  double weights;  // bytes that a step reads
};

struct BenchRow {
  int64_t batch, beam;
  double tokens_per_second, milliseconds, of_operations, of_bytes;
};

// Weights from a folder, which may translate a text, or random ones.
struct BenchModel {
  std::unique_ptr<SavedModel> saved;
  std::unique_ptr<Device> device;
  std::unique_ptr<Transformer> random;

  Transformer& transformer() const { return saved ? saved->model : *random; }
};

DecodingWork work_of(const BenchModel& model, const BenchOptions& o, DecodingLoad& load) {
  const auto quarter = [](int64_t sentences) { return std::max<int64_t>(1, sentences / 4); };
  if (o.text.empty()) {
    if (load.batch == 1) load.sentences = quarter(load.sentences);
    return random_work(model.transformer().config, load);
  }
  DecodingWork work = work_of_text(*model.saved, o.text, load);
  if (work.sources.empty()) throw Error("bench: {} has no text to translate", o.text);
  if (load.batch == 1) work.sources.resize(static_cast<size_t>(quarter(std::ssize(work.sources))));
  return work;
}

BenchRow measure(const BenchModel& model, const BenchOptions& o, DecodingLoad load,
                 const MachineLimits& machine) {
  const ModelConfig& config = model.transformer().config;
  load.searches = worker_count(o.workers, load.batch, machine.threads);
  DecodingRounds rounds(model.transformer(), load, work_of(model, o, load));
  rounds.seconds();  // memory is there, and the processor awake
  std::vector<double> times;
  for (int64_t round = 0; round < o.rounds; ++round) times.push_back(rounds.seconds());
  std::ranges::sort(times);
  const double seconds = times[times.size() / 2];
  const RoundSize size = rounds.size();
  // The limits are measured: where the processor was busier then than now, a rate may exceed them.
  const auto share = [](double rate, double limit) { return limit > 0 ? rate / std::max(rate, limit) : 0; };
  return {
      .batch = load.batch,
      .beam = load.beam,
      .tokens_per_second = static_cast<double>(size.outputs) / seconds,
      .milliseconds = 1000 * seconds / static_cast<double>(size.sentences),
      .of_operations = share(2 * products_of_round(config, size, load.beam) / seconds, machine.operations),
      .of_bytes =
          share(bytes_of_round(config, size, load.batch, machine.precision) / seconds, machine.bytes)};
}

double peak_mib() { return static_cast<double>(peak_memory()) / (1 << 20); }

// Of a limit, or a share of one: nothing where that is not known.
nlohmann::ordered_json known(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f} %", 100 * share) : "unknown"; }

nlohmann::ordered_json to_json(const BenchRow& row, const MachineLimits& machine) {
  return {{"batch", row.batch},
          {"beam", row.beam},
          {"tokens_per_second", row.tokens_per_second},
          {"milliseconds_a_sentence", row.milliseconds},
          {"share_of_arithmetic", known(row.of_operations)},
          {"share_of_bandwidth", known(row.of_bytes)},
          {"peak_mib", peak_mib()},
          {"precision", name_of(machine.precision)},
          {"threads", machine.threads},
          {"instruction_set", machine.instruction_set},
          {"limit_operations_a_second", known(machine.operations)},
          {"limit_bytes_a_second", known(machine.bytes)},
          {"weights_bytes_a_step", machine.weights}};
}

std::string to_text(const BenchRow& row) {
  return fmt::format("{:>5}  {:>4}  {:>10.0f}  {:>11.2f}  {:>10}  {:>9}  {:>8.0f}", row.batch, row.beam,
                     row.tokens_per_second, row.milliseconds, percent(row.of_operations),
                     percent(row.of_bytes), peak_mib());
}

void print_head(const ModelConfig& c, const BenchOptions& o, const MachineLimits& machine) {
  std::cout << fmt::format("{}+{} layers, d_model {}, d_ff {}, vocabulary {}, {}; {}; {}, {}\n",
                           c.encoder_layers, c.decoder_layers, c.d_model, c.d_ff, c.target_vocabulary,
                           name_of(machine.precision),
                           o.text.empty() ? fmt::format("{} tokens a sentence", o.load.length) : o.text,
                           counted(machine.threads, "thread"), machine.instruction_set);
  if (machine.operations > 0) {
    std::cout << fmt::format(
        "at most: {:.0f} billion operations a second in registers; {:.1f} GB a second of weights "
        "({:.1f} MB in a step)\n",
        machine.operations * 1e-9, machine.bytes * 1e-9, machine.weights * 1e-6);
  }
  std::cout << "\nbatch  beam  tokens/s    ms/sentence  arithmetic  bandwidth  peak MiB\n";
}

BenchModel load(const BenchOptions& o, const ModelConfig& random_config) {
  BenchModel model;
  if (!o.model.empty()) model.saved = load_model(o.model, o.machine);
  if (!has_encoder(model.saved ? model.saved->model.config : random_config))
    throw UsageError("bench measures translating, and a language model continues texts: use another model");
  if (model.saved) return model;
  model.device = std::make_unique<Device>(kernels_of_device(o.machine.device), thread_count(o.machine));
  model.random = std::make_unique<Transformer>(random_config, *model.device, Buffers::weights);
  model.random->parameters.initialise(1);
  const Precision precision = chosen_precision(requested(o.machine.precision), Precision::fp32);
  if (precision != Precision::fp32) quantize_weights(*model.device, model.random->parameters, precision);
  return model;
}

Precision precision_of(Transformer& model) {
  const LowPrecisionMatrix& matrix = model.generator.weight.storage().low_precision;
  return matrix.data != nullptr ? matrix.precision : Precision::fp32;
}

// A GPU's are not measured.
MachineLimits limits_of(const Device& device, Precision precision, double weights) {
  const int threads = device.context.threads();
  const bool measured = !is_gpu(device.kernels);
  return {.threads = threads,
          .instruction_set = device_name(device.kernels),
          .precision = precision,
          .operations = measured ? measured_peak(threads, device.kernels.name, precision) : 0,
          .bytes = measured ? measured_bandwidth(threads, weights) : 0,
          .weights = weights};
}

void check_bench_text(const BenchOptions& o, const Options& given) {
  if (o.model.empty() || o.load.kept != DecodingCache::all)
    throw UsageError("bench: --text needs --model, and cannot be combined with --cache");
  for (const char* key : {"length", "sentences"})
    if (given.is_given(key))
      throw UsageError("bench: --{} has no effect with --text, whose sentences are translated", key);
  check_readable(o.text);
}

}  // namespace

void bench(const Arguments& arguments) {
  BenchOptions o;
  ModelConfig random_model;
  Options options, model_options;
  declare(options, o);
  declare(model_options, random_model);
  CommandLine line("bench", summary_of("bench"));
  line.add_options(options);
  line.add_options(model_options);
  if (!line.read(arguments)) return;
  if (o.batch.empty() || o.beam.empty())
    throw UsageError("bench: --batch and --beam need at least one number");
  if (o.load.kept != DecodingCache::all && o.beam != std::vector<int64_t>{1})
    throw UsageError("bench: only --cache all supports a beam search: add --beam 1");
  if (!o.model.empty() &&
      (to_json(random_model) != to_json(ModelConfig()) || o.vocabulary != BenchOptions().vocabulary))
    throw UsageError(
        "bench: --model.* and --vocabulary are for random weights: remove them, or remove --model");
  if (!o.text.empty()) check_bench_text(o, options);
  random_model.source_vocabulary = random_model.target_vocabulary = o.vocabulary;

  const BenchModel loaded = load(o, random_model);
  Transformer& model = loaded.transformer();
  const Device& device = model.device;
  const Precision precision = precision_of(model);
  const MachineLimits machine = limits_of(device, precision, bytes_of_step(model.config, precision));
  const bool json = o.format == OutputFormat::json;
  if (!json) print_head(model.config, o, machine);
  for (const int64_t batch : o.batch) {
    for (const int64_t beam : o.beam) {
      forget_peak_memory();  // of the row before, or of measuring the limits
      o.load.batch = batch;
      o.load.beam = beam;
      const BenchRow row = measure(loaded, o, o.load, machine);
      std::cout << (json ? json_text(to_json(row, machine)) : to_text(row)) << std::endl;
    }
  }
}

}  // namespace dragoman::internal
