// Measures how fast a model translates: random sentences of one length into outputs of the same length, or a text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/transformer.h"
#include "search/saved_model.h"
#include "search/searches.h"

namespace dragoman::internal {

// What decoding keeps between steps. all: keys and values of every layer. cross: those of the cross-attention, that is,
// of the source; the decoder reads all tokens so far again. encoder: the encoder's output alone. none: nothing; the
// encoder runs at every step, too.
enum class DecodingCache { all, cross, encoder, none };

struct DecodingLoad {
  int64_t sentences = 128, length = 25, batch = 32, beam = 1;
  DecodingCache kept = DecodingCache::all;
  int searches = 1;  // batches in parallel
};

// What is translated, and how.
struct DecodingWork {
  std::vector<std::vector<int32_t>> sources;
  SearchOptions options;
  SearchSettings settings;
};

DecodingWork random_work(const ModelConfig& config, const DecodingLoad& load);
// The lines of a file, split where they are too long; outputs have the length that the model gives them. The load's
// sentences and length do not matter.
DecodingWork work_of_text(const SavedModel& model, const std::string& path, const DecodingLoad& load);

// Of a round.
struct RoundSize {
  int64_t sentences = 0;
  int64_t sources = 0, outputs = 0, steps = 0;  // tokens; steps: of outputs with their end marks
};

class DecodingRounds {
 public:
  DecodingRounds(Transformer& model, const DecodingLoad& load, DecodingWork work);
  // The time to translate all sentences once.
  double seconds();
  // What it translated them into, in the last round.
  const std::vector<std::vector<int32_t>>& outputs() const { return outputs_; }
  RoundSize size() const;

 private:
  void search();
  void decode_without_cache(size_t begin, size_t count);

  Transformer& model_;
  const DecodingLoad load_;
  const DecodingWork work_;
  Scheduler scheduler_;
  Searches searches_;
  std::vector<std::vector<int32_t>> outputs_;
};

// To compare with the machine's limits: a round's multiply-adds of matrix products without attention, and the bytes of
// weights that it reads in full batches; the bytes that one step reads.
double products_of_round(const ModelConfig& config, const RoundSize& size, int64_t beam);
double bytes_of_round(const ModelConfig& config, const RoundSize& size, int64_t batch, Precision precision);
double bytes_of_step(const ModelConfig& config, Precision precision);

}  // namespace dragoman::internal
