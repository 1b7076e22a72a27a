#include "report/explain/predictions.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman::internal {

Predictions predictions(const TracedPair& t) {
  Pass pass{.device = t.model.device};
  Predictions p = {.logits = on_host(next_word_logits(pass, t.model, t.decoded)), .log_sums = {}};
  for (int64_t r = 0; r < p.logits.rows; ++r) {
    const auto row = p.logits.row(r);
    const auto top = static_cast<double>(std::ranges::max(row));
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit) - top);
    p.log_sums.push_back(top + std::log(sum));
    if (!std::isfinite(p.log_sums.back()))
      throw Error(
          "the model's output is not finite: it is damaged, or its training diverged; use another model");
  }
  return p;
}

}  // namespace dragoman::internal
