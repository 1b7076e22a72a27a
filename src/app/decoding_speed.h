// How fast a model translates: sentences of made-up words, all of one length, and outputs that are as long.
#pragma once

#include <cstdint>

#include "model/transformer.h"

namespace dragoman {

// What decoding keeps between two steps. all: keys and values of every layer. encoder: the encoder's output, while the
// decoder goes through all tokens so far again. none: nothing, the encoder runs at every step too.
enum class Kept { all, encoder, none };

struct DecodingLoad {
  int64_t sentences = 128, length = 25, batch = 32, beam = 1;
  Kept kept = Kept::all;
};

struct DecodingSpeed {
  double seconds = 0;
  double tokens_per_second = 0;  // of output
};

DecodingSpeed measure_decoding(Transformer& model, const DecodingLoad& load);

// Multiply-adds of the products for one sentence, attention's left out, and bytes of weights that one batch reads:
// what the machine's limits are held against.
double products_of_sentence(const ModelConfig& config, const DecodingLoad& load);
double bytes_of_batch(const ModelConfig& config, const DecodingLoad& load, Precision precision);

}  // namespace dragoman
