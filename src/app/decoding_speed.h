// Measures how fast a model translates random sentences of one length into outputs of the same length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "search/parallel_search.h"

namespace dragoman::internal {

// What decoding keeps between steps. all: keys and values of every layer. cross: those of the cross-attention, that is,
// of the source; the decoder reads all tokens so far again. encoder: the encoder's output alone. none: nothing; the
// encoder runs at every step, too.
enum class Kept { all, cross, encoder, none };

struct DecodingLoad {
  int64_t sentences = 128, length = 25, batch = 32, beam = 1;
  Kept kept = Kept::all;
  int searches = 1;  // batches in parallel
};

class DecodingRounds {
 public:
  DecodingRounds(Transformer& model, const DecodingLoad& load);
  // The time to translate all sentences once.
  double seconds();
  // What it translated them into, in the last round.
  const std::vector<std::vector<int32_t>>& outputs() const { return outputs_; }

 private:
  void search();
  void decode_again_and_again(size_t begin, size_t count);

  Transformer& model_;
  const DecodingLoad load_;
  const std::vector<std::vector<int32_t>> sentences_;
  ParallelSearch search_;
  std::vector<std::vector<int32_t>> outputs_;
};

// Multiply-adds of one sentence's matrix products without attention, and bytes of weights that one batch and that one
// step of it read: to compare with the machine's limits.
double products_of_sentence(const ModelConfig& config, const DecodingLoad& load);
double bytes_of_batch(const ModelConfig& config, const DecodingLoad& load, Precision precision);
double bytes_of_step(const ModelConfig& config, Precision precision);

}  // namespace dragoman::internal
