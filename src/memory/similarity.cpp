#include "memory/similarity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dragoman::internal {

// Levenshtein's distance row by row, within the band of changes that are allowed.
double similarity(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, double at_least) {
  const size_t longer = std::max(a.size(), b.size());
  if (longer == 0) return 1;
  const auto limit = static_cast<size_t>(std::floor((1 - at_least) * static_cast<double>(longer) + 1e-9));
  if (longer - std::min(a.size(), b.size()) > limit) return 0;
  constexpr size_t far = SIZE_MAX / 2;
  std::vector<size_t> row(b.size() + 1, far);
  for (size_t j = 0; j <= std::min(limit, b.size()); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    const size_t first = i > limit ? i - limit : 1, last = std::min(i + limit, b.size());
    size_t diagonal = row[first - 1], best = far;
    row[first - 1] = first == 1 && i <= limit ? i : far;
    for (size_t j = first; j <= last; ++j) {
      const size_t above = j == i + limit ? far : row[j];
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, above + 1, row[j - 1] + 1});
      best = std::min(best, row[j]);
    }
    if (best > limit && row[first - 1] > limit) return 0;
  }
  const size_t edits = row[b.size()];
  return edits > limit ? 0 : 1 - static_cast<double>(edits) / static_cast<double>(longer);
}

}  // namespace dragoman::internal
