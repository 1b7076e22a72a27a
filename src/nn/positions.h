// Positional encodings and embeddings (the paper, section 3.5).
#pragma once

#include "nn/parameters.h"

namespace dragoman::internal {

//   sinusoidal     the paper's: column 2i is sin(p / 10000^(2i/d)), column 2i+1 its cosine
//   tensor2tensor  sines in the first half of the columns, cosines in the second; rates from 1 to 1/10000
//   raw_index      column c is the sine (even) or cosine (odd) of p / 10000^(2c/d), as two of the articles have it
//   learned        a parameter
enum class Positions { sinusoidal, tensor2tensor, raw_index, learned };

// One entry of a table that is computed.
double position_value(Positions kind, int64_t position, int64_t column, int64_t width);

// A table of any length, computed as far as needed; or a learned one, of a fixed size.
class PositionTable {
 public:
  PositionTable() = default;
  PositionTable(Positions kind, int64_t width) : kind_(kind), width_(width) {}
  explicit PositionTable(Tensor learned)
      : kind_(Positions::learned), width_(learned.columns()), table_(learned) {}

  // At least `positions` rows. Throws an Error if a learned table has fewer.
  const Tensor& rows(Pool& pool, int64_t positions);

 private:
  Positions kind_ = Positions::sinusoidal;
  int64_t width_ = 0;
  Tensor table_;
};

}  // namespace dragoman::internal
