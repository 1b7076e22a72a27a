// What the decoder predicts: log-probabilities of the whole vocabulary after each token.
#pragma once

#include "report/explain/traced_pair.h"

namespace dragoman::internal {

struct Predictions {
  HostMatrix logits;
  std::vector<double> log_sums;  // log Σ e^logit of each row

  double log_probability(int64_t row, int64_t word) const {
    return static_cast<double>(logits.row(row)[static_cast<size_t>(word)]) -
           log_sums[static_cast<size_t>(row)];
  }
};
// Throws an Error where they are not finite.
Predictions predictions(const TracedPair& traced);

}  // namespace dragoman::internal
