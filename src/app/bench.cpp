// dragoman bench: translation speed on this machine, compared with the machine's limits.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/decoding_speed.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernels/machine_peaks.h"
#include "model/decoding_weights.h"
#include "model/folder.h"

namespace dragoman::internal {
namespace {

struct BenchOptions {
  std::string model;
  int64_t vocabulary = 32000, threads = 0, workers = 0, rounds = 5;
  WantedPrecision precision = WantedPrecision::as_saved;
  std::vector<int64_t> batch = {1, 32}, beam = {1, 4};
  DecodingLoad load;
  OutputFormat format = OutputFormat::text;
};

void declare(Options& options, BenchOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, "model folder; by default random weights in the size of [model]");
  own.add("vocabulary", o.vocabulary, "vocabulary size of random weights", at_least(4).at_most(1'000'000));
  declare_precision(own, o.precision);
  own.add("batch", o.batch, "sentences per batch; each number is measured", at_least(1));
  own.add("beam", o.beam, "beam size; each number is measured", at_least(1).at_most(1000));
  own.add("length", o.load.length, "tokens of each sentence and of its translation",
          at_least(1).at_most(1000));
  own.add("sentences", o.load.sentences, "sentences per round; a quarter of them for a batch of 1",
          at_least(1));
  own.add("rounds", o.rounds, "rounds, of which the median counts", at_least(1).at_most(1000));
  own.add(
      "cache", o.load.kept,
      "what decoding keeps between steps: keys and values of every attention, of cross-attention alone, the "
      "encoder's output alone, or nothing",
      {{"all", Kept::all}, {"cross", Kept::cross}, {"encoder", Kept::encoder}, {"none", Kept::none}});
  declare_threads(own, o.threads);
  declare_workers(own, o.workers);
  declare_format(own, o.format, "a table, or one JSON object per line");
}

// What the rows were measured on, and the most that it can do.
struct Machine {
  int threads;
  const char* instruction_set;
  Precision precision;
  double operations, bytes;  // a second: on registers, and of the weights, which may be in a cache
  double weights;            // bytes that a step reads
};

struct Row {
  int64_t batch, beam;
  double tokens_per_second, milliseconds, of_operations, of_bytes;
};

Row measure(Transformer& model, const BenchOptions& o, DecodingLoad load, const Machine& machine) {
  if (load.batch == 1) load.sentences = std::max<int64_t>(1, load.sentences / 4);
  load.searches = worker_count(o.workers, load.batch, machine.threads);
  DecodingRounds rounds(model, load);
  rounds.seconds();  // memory is there, and the processor awake
  std::vector<double> times;
  for (int64_t round = 0; round < o.rounds; ++round) times.push_back(rounds.seconds());
  std::ranges::sort(times);
  const double sentences = static_cast<double>(load.sentences), seconds = times[times.size() / 2];
  const double batches = std::max(1.0, sentences / static_cast<double>(load.batch));
  // The limits are measured: where the processor was busier then than now, a rate may exceed them.
  const auto share = [](double rate, double limit) { return rate / std::max(rate, limit); };
  return {.batch = load.batch,
          .beam = load.beam,
          .tokens_per_second = sentences * static_cast<double>(load.length) / seconds,
          .milliseconds = 1000 * seconds / sentences,
          .of_operations =
              share(2 * sentences * products_of_sentence(model.config, load) / seconds, machine.operations),
          .of_bytes = share(batches * bytes_of_batch(model.config, load, machine.precision) / seconds,
                            machine.bytes)};
}

double peak_mib() { return static_cast<double>(peak_memory()) / (1 << 20); }

nlohmann::ordered_json to_json(const Row& row, const Machine& machine) {
  return {{"batch", row.batch},
          {"beam", row.beam},
          {"tokens_per_second", row.tokens_per_second},
          {"milliseconds_a_sentence", row.milliseconds},
          {"share_of_arithmetic", row.of_operations},
          {"share_of_bandwidth", row.of_bytes},
          {"peak_mib", peak_mib()},
          {"precision", name_of(machine.precision)},
          {"threads", machine.threads},
          {"instruction_set", machine.instruction_set},
          {"limit_operations_a_second", machine.operations},
          {"limit_bytes_a_second", machine.bytes},
          {"weights_bytes_a_step", machine.weights}};
}

std::string to_text(const Row& row) {
  return fmt::format("{:>5}  {:>4}  {:>10.0f}  {:>11.2f}  {:>8.0f} %  {:>7.0f} %  {:>8.0f}", row.batch,
                     row.beam, row.tokens_per_second, row.milliseconds, 100 * row.of_operations,
                     100 * row.of_bytes, peak_mib());
}

void print_head(const ModelConfig& c, const BenchOptions& o, const Machine& machine) {
  std::cout << fmt::format(
      "{}+{} layers, d_model {}, d_ff {}, vocabulary {}, {}; {} tokens a sentence; {} threads, {}\n"
      "at most: {:.0f} billion operations a second in registers; {:.1f} GB a second of weights "
      "({:.1f} MB in a step)\n\n"
      "batch  beam  tokens/s    ms/sentence  arithmetic  bandwidth  peak MiB\n",
      c.encoder_layers, c.decoder_layers, c.d_model, c.d_ff, c.target_vocabulary, name_of(machine.precision),
      o.load.length, machine.threads, machine.instruction_set, machine.operations * 1e-9,
      machine.bytes * 1e-9, machine.weights * 1e-6);
}

Precision hold(Transformer& model, const BenchOptions& o) {
  if (!o.model.empty()) {
    map_weights(model.device, weights_path(o.model), model.parameters, o.precision);
  } else {
    model.parameters.allocate(Buffers::weights);
    model.parameters.initialise(1);
    if (o.precision == WantedPrecision::int8 || o.precision == WantedPrecision::bf16) {
      quantize_weights(model.device, model.parameters,
                       o.precision == WantedPrecision::int8 ? Precision::int8 : Precision::bf16);
    }
  }
  const LowPrecisionMatrix& held = model.generator.weight.storage().low_precision;
  return held.data != nullptr ? held.precision : Precision::fp32;
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
  if (o.load.kept != Kept::all && o.beam != std::vector<int64_t>{1})
    throw UsageError("bench: only --cache all supports a beam search: add --beam 1");
  if (!o.model.empty() &&
      (to_json(random_model) != to_json(ModelConfig()) || o.vocabulary != BenchOptions().vocabulary))
    throw UsageError(
        "bench: --model.* and --vocabulary are for random weights: remove them, or remove --model");
  random_model.source_vocabulary = random_model.target_vocabulary = o.vocabulary;

  Device device(chosen_kernels(), o.threads > 0 ? static_cast<int>(o.threads) : available_threads());
  Transformer model(o.model.empty() ? random_model : read_model_config(o.model), device, Buffers::none_yet);
  const Precision precision = hold(model, o);
  const int threads = device.context.threads();
  const double weights = bytes_of_step(model.config, precision);
  const Machine machine = {.threads = threads,
                           .instruction_set = device.kernels.name,
                           .precision = precision,
                           .operations = measured_peak(threads, device.kernels.name, precision),
                           .bytes = measured_bandwidth(threads, weights),
                           .weights = weights};
  forget_peak_memory();  // which that was
  const bool json = o.format == OutputFormat::json;
  if (!json) print_head(model.config, o, machine);
  for (const int64_t batch : o.batch) {
    for (const int64_t beam : o.beam) {
      o.load.batch = batch;
      o.load.beam = beam;
      const Row row = measure(model, o, o.load, machine);
      std::cout << (json ? to_json(row, machine).dump() : to_text(row)) << std::endl;
    }
  }
}

}  // namespace dragoman::internal
