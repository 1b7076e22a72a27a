#include "metrics/choosing.h"

#include "base/error.h"
#include "metrics/chrf.h"

namespace dragoman::internal {

size_t nearest_to_reference(std::span<const std::string> hypotheses, std::string_view reference) {
  CHECK(!hypotheses.empty());
  size_t best = 0;
  double best_score = -1;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const double score = chrf_score(chrf_statistics(hypotheses[i], reference));
    if (score <= best_score) continue;
    best = i;
    best_score = score;
  }
  return best;
}

}  // namespace dragoman::internal
