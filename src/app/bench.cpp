// dragoman bench: how fast a model translates on this machine, beside what the machine could do at most.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/decoding_speed.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "kernels/machine_peaks.h"
#include "model/decoding_weights.h"
#include "model/folder.h"

namespace dragoman {
namespace {

enum class BenchFormat { text, json };

struct BenchOptions {
  std::string model;
  int64_t vocabulary = 32000, threads = 0, workers = 0, rounds = 5;
  WantedPrecision precision = WantedPrecision::as_saved;
  std::vector<std::string> batch = {"1", "32"}, beam = {"1", "4"};
  DecodingLoad load;
  BenchFormat format = BenchFormat::text;
};

void declare(Options& options, BenchOptions& o) {
  auto own = options.section("", "What to measure");
  own.add("model", o.model,
          "a model's folder; without one, weights are made up in the size that [model] says");
  own.add("vocabulary", o.vocabulary, "words of a model that is made up", at_least(4).at_most(1'000'000));
  own.add("precision", o.precision,
          "of the weights: as the folder has them (fp32 where they are made up), or rounded",
          {{"auto", WantedPrecision::as_saved},
           {"fp32", WantedPrecision::fp32},
           {"bf16", WantedPrecision::bf16},
           {"int8", WantedPrecision::int8}});
  own.add("batch", o.batch, "sentences at once of each worker, each number in turn");
  own.add("beam", o.beam, "hypotheses of each sentence, each number in turn");
  own.add("length", o.load.length, "tokens of each sentence and of its translation",
          at_least(1).at_most(1000));
  own.add("sentences", o.load.sentences, "in a round; of one at a time, a quarter as many", at_least(1));
  own.add("rounds", o.rounds, "of which the median counts", at_least(1).at_most(1000));
  own.add("cache", o.load.kept,
          "what decoding keeps between steps: all, the encoder's output alone, or nothing",
          {{"all", Kept::all}, {"encoder", Kept::encoder}, {"none", Kept::none}});
  own.add("threads", o.threads, "processors to use; 0: all", at_least(0).at_most(1024));
  declare_workers(own, o.workers);
  own.add("format", o.format, "a table, or an object a line",
          {{"text", BenchFormat::text}, {"json", BenchFormat::json}});
}

std::vector<int64_t> numbers(const char* key, const std::vector<std::string>& texts) {
  std::vector<int64_t> values;
  for (const std::string& text : texts) {
    values.push_back(std::atoll(text.c_str()));
    if (values.back() < 1 || std::to_string(values.back()) != text)
      throw UsageError("bench: --{} is \"{}\", and wants whole numbers of at least 1: --{} 1,32", key, text,
                       key);
  }
  return values;
}

// What the rows were measured on, and the most that it can do.
struct Machine {
  int threads;
  const char* instruction_set;
  Precision precision;
  double operations, bytes;  // a second
};

struct Row {
  int64_t batch, beam;
  double tokens_per_second, milliseconds, of_operations, of_bytes;
};

Row measure(Transformer& model, const BenchOptions& o, DecodingLoad load, const Machine& machine) {
  if (load.batch == 1) load.sentences = std::max<int64_t>(1, load.sentences / 4);
  load.searches = searches_for(o.workers, load.batch, machine.threads);
  DecodingRounds rounds(model, load);
  rounds.seconds();  // memory is there, and the processor awake
  std::vector<double> times;
  for (int64_t round = 0; round < o.rounds; ++round) times.push_back(rounds.seconds());
  std::ranges::sort(times);
  const double sentences = static_cast<double>(load.sentences), seconds = times[times.size() / 2];
  const double batches = std::max(1.0, sentences / static_cast<double>(load.batch));
  return {
      .batch = load.batch,
      .beam = load.beam,
      .tokens_per_second = sentences * static_cast<double>(load.length) / seconds,
      .milliseconds = 1000 * seconds / sentences,
      .of_operations =
          2 * sentences * products_of_sentence(model.config, load) / seconds / machine.operations,
      .of_bytes = batches * bytes_of_batch(model.config, load, machine.precision) / seconds / machine.bytes};
}

double peak_mib() { return static_cast<double>(peak_memory()) / (1 << 20); }

nlohmann::ordered_json to_json(const Row& row, const Machine& machine) {
  return {{"batch", row.batch},
          {"beam", row.beam},
          {"tokens_per_second", row.tokens_per_second},
          {"milliseconds_a_sentence", row.milliseconds},
          {"share_of_arithmetic", row.of_operations},
          {"share_of_memory", row.of_bytes},
          {"peak_mib", peak_mib()},
          {"precision", name_of(machine.precision)},
          {"threads", machine.threads},
          {"instruction_set", machine.instruction_set},
          {"limit_operations_a_second", machine.operations},
          {"limit_bytes_a_second", machine.bytes}};
}

std::string to_text(const Row& row) {
  return fmt::format("{:>5}  {:>4}  {:>10.0f}  {:>11.2f}  {:>8.0f} %  {:>4.0f} %  {:>8.0f}", row.batch,
                     row.beam, row.tokens_per_second, row.milliseconds, 100 * row.of_operations,
                     100 * row.of_bytes, peak_mib());
}

void print_head(const ModelConfig& c, const BenchOptions& o, const Machine& machine) {
  std::cout << fmt::format(
      "{}+{} layers, d_model {}, d_ff {}, vocabulary {}, {}; {} tokens a sentence; {} threads, {}\n"
      "at most: {:.0f} billion operations a second in registers, {:.1f} GB a second from memory\n\n"
      "batch  beam  tokens/s    ms/sentence  arithmetic  memory  peak MiB\n",
      c.encoder_layers, c.decoder_layers, c.d_model, c.d_ff, c.target_vocabulary, name_of(machine.precision),
      o.load.length, machine.threads, machine.instruction_set, machine.operations * 1e-9,
      machine.bytes * 1e-9);
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
  ModelConfig made_up;
  Options options, model_options;
  declare(options, o);
  declare(model_options, made_up);
  CommandLine line("bench", "how fast a model translates here, beside what the machine could do at most");
  line.add_options(options);
  line.add_options(model_options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  const std::vector<int64_t> batches = numbers("batch", o.batch), beams = numbers("beam", o.beam);
  if (o.load.kept != Kept::all && beams != std::vector<int64_t>{1})
    throw UsageError("bench: without the whole cache there is greedy search alone: add --beam 1");
  if (!o.model.empty() &&
      (to_json(made_up) != to_json(ModelConfig()) || o.vocabulary != BenchOptions().vocabulary))
    throw UsageError(
        "bench: --model.* and --vocabulary describe made-up weights: leave them out, or --model DIR");
  made_up.source_vocabulary = made_up.target_vocabulary = o.vocabulary;

  Device device(kernels_for(std::getenv("DRAGOMAN_ISA")),
                o.threads > 0 ? static_cast<int>(o.threads) : available_threads());
  Transformer model(o.model.empty() ? made_up : read_model_config(o.model), device, Buffers::none_yet);
  const Precision precision = hold(model, o);
  const Machine machine = {device.context.threads(), device.kernels.name, precision,
                           measured_peak(device.context.threads(), device.kernels.name, precision),
                           measured_bandwidth(device.context.threads())};
  forget_peak_memory();  // which that was
  const bool json = o.format == BenchFormat::json;
  if (!json) print_head(model.config, o, machine);
  for (const int64_t batch : batches) {
    for (const int64_t beam : beams) {
      o.load.batch = batch;
      o.load.beam = beam;
      const Row row = measure(model, o, o.load, machine);
      std::cout << (json ? to_json(row, machine).dump() : to_text(row)) << std::endl;
    }
  }
}

}  // namespace dragoman
