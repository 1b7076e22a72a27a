// How fast a model translates: sentences of made-up words, all of one length, and outputs that are as long.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer.h"
#include "search/parallel_search.h"

namespace dragoman {

// What decoding keeps between two steps. all: keys and values of every layer. encoder: the encoder's output, while the
// decoder goes through all tokens so far again. none: nothing, the encoder runs at every step too.
enum class Kept { all, encoder, none };

struct DecodingLoad {
  int64_t sentences = 128, length = 25, batch = 32, beam = 1;
  Kept kept = Kept::all;
  int searches = 1;  // batches side by side
};

class DecodingRounds {
 public:
  DecodingRounds(Transformer& model, const DecodingLoad& load);
  // How long it takes to translate all sentences once.
  double seconds();

 private:
  void search();
  void decode_again_and_again(std::span<const std::vector<int32_t>> sentences);

  Transformer& model_;
  const DecodingLoad load_;
  const std::vector<std::vector<int32_t>> sentences_;
  ParallelSearch search_;
};

// Multiply-adds of the products for one sentence, attention's left out, and bytes of weights that one batch reads:
// what the machine's limits are held against.
double products_of_sentence(const ModelConfig& config, const DecodingLoad& load);
double bytes_of_batch(const ModelConfig& config, const DecodingLoad& load, Precision precision);

}  // namespace dragoman
