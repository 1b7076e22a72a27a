// Positional encodings and embeddings (the paper, section 3.5).
#pragma once

#include "nn/parameters.h"

namespace dragoman::internal {

//   sinusoidal     the paper's: column 2i is sin(p / 10000^(2i/d)), column 2i+1 its cosine
//   halves         the paper's rates, but sines in the first half of the columns and cosines in the second
//   tensor2tensor  halves, too, with rates from 1 to 1/10000
//   raw_index      column c is the sine (even) or cosine (odd) of p / 10000^(2c/d), as two of the articles have it
//   learned        a parameter
//   stored         a table in the model file, which training leaves as it is
// These are added to the embeddings. The others are in the self-attention of each layer, which then knows distances:
//   rotary         queries and keys are turned by an angle for each position (Su et al., 2021)
//   alibi          scores fall with the distance, in each head at a rate of its own (Press et al., 2022)
//   t5             scores get a learned bias for each head and bucket of distances (Raffel et al., 2020)
//   none           nowhere
enum class Positions {
  sinusoidal,
  halves,
  tensor2tensor,
  raw_index,
  learned,
  stored,
  rotary,
  alibi,
  t5,
  none
};

inline bool is_added(Positions kind) { return kind < Positions::rotary; }

// Whether the table is part of the model, and so a sentence has at most as many tokens as it has rows.
inline bool has_fixed_length(Positions kind) {
  return kind == Positions::learned || kind == Positions::stored;
}

constexpr double default_base = 10000;

// One entry of a table that is computed. rotary: of a head's width, the cosines, then the sines; its rates are powers
// of `base`, which is 10000 for the others.
double position_value(Positions kind, int64_t position, int64_t column, int64_t width,
                      double base = default_base);

// A table of any length, computed as far as needed; or one of the model's parameters, of a fixed length.
class PositionTable {
 public:
  PositionTable() = default;
  // `first`: the number of a sentence's first position.
  PositionTable(Positions kind, int64_t width, int64_t first = 0, double base = default_base)
      : kind_(kind), width_(width), first_(first), base_(base) {}
  PositionTable(Positions kind, const Tensor& parameter)
      : kind_(kind), width_(parameter.columns()), table_(parameter) {}

  // At least `positions` rows. Throws an Error if a table of a fixed length has fewer.
  const Tensor& rows(Pool& pool, int64_t positions);

 private:
  Positions kind_ = Positions::sinusoidal;
  int64_t width_ = 0, first_ = 0;
  double base_ = default_base;
  Tensor table_;
};

}  // namespace dragoman::internal
