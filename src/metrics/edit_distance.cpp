#include "metrics/edit_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr int32_t infinite_cost = 1 << 29;

}  // namespace

// The band is as wide as sacreBLEU's. Where one side is many times longer than the other, it is wide enough that
// neighbouring rows overlap.
BandedEditDistance::BandedEditDistance(std::span<const int32_t> reference, size_t hypothesis_words)
    : reference_(reference), above_(reference.size() + 2), row_(reference.size() + 2) {
  constexpr double usual_width = 25;
  const size_t columns = reference.size() + 1;
  const double ratio = hypothesis_words > 0
                           ? static_cast<double>(reference.size()) / static_cast<double>(hypothesis_words)
                           : 1;
  const double width = usual_width < ratio / 2 ? std::ceil(ratio / 2 + usual_width) : usual_width;
  bands_.push_back({0, columns, 0});
  size_t cells = 0;
  for (size_t i = 1; i <= hypothesis_words; ++i) {
    const double diagonal = std::floor(static_cast<double>(i) * ratio);
    const auto begin = static_cast<size_t>(std::max(0.0, diagonal - width));
    const size_t end =
        i == hypothesis_words ? columns : std::min(columns, static_cast<size_t>(diagonal + width));
    bands_.push_back({begin, end, cells});
    cells += end - begin;
  }
  costs_.resize(cells);
  steps_.resize(cells);
}

// Makes a row of the measured hypothesis the row above.
void BandedEditDistance::begin_with_row(size_t row) {
  const Band& band = bands_[row];
  if (row == 0) {
    std::iota(above_.begin(), above_.end(), 0);
    return;
  }
  if (band.begin > 0) above_[band.begin - 1] = infinite_cost;
  std::copy_n(&costs_[band.cells], band.end - band.begin, &above_[band.begin]);
}

// The smallest cost of the row. The row is then the row above.
int32_t BandedEditDistance::fill_row(size_t row, int32_t word, Step* steps) {
  const Band &band = bands_[row], &before = bands_[row - 1];
  for (size_t j = before.end; j < band.end; ++j) above_[j] = infinite_cost;
  int32_t left = infinite_cost, smallest = infinite_cost;
  if (band.begin > 0) row_[band.begin - 1] = infinite_cost;
  for (size_t j = band.begin; j < band.end; ++j) {
    const bool match = j > 0 && word == reference_[j - 1];
    int32_t cost = j > 0 ? above_[j - 1] + (match ? 0 : 1) : infinite_cost;
    Step step = match ? Step::match : Step::substitute;
    if (above_[j] + 1 < cost) {
      cost = above_[j] + 1;
      step = Step::remove;
    }
    if (left + 1 < cost) {
      cost = left + 1;
      step = Step::insert;
    }
    left = row_[j] = std::min(cost, infinite_cost);
    smallest = std::min(smallest, left);
    if (steps) steps[j - band.begin] = step;
  }
  std::swap(above_, row_);
  return smallest;
}

int64_t BandedEditDistance::measure(std::span<const int32_t> hypothesis) {
  CHECK(hypothesis.size() + 1 == bands_.size(), "{} words, not {}", hypothesis.size(), bands_.size() - 1);
  begin_with_row(0);
  for (size_t i = 1; i <= hypothesis.size(); ++i) {
    const Band& band = bands_[i];
    fill_row(i, hypothesis[i - 1], &steps_[band.cells]);
    std::copy_n(&above_[band.begin], band.end - band.begin, &costs_[band.cells]);
  }
  return above_[reference_.size()];
}

int64_t BandedEditDistance::distance_of(std::span<const int32_t> words, size_t same, int64_t limit) {
  begin_with_row(same);
  for (size_t i = same + 1; i <= words.size(); ++i) {
    if (fill_row(i, words[i - 1], nullptr) >= limit) return limit;  // costs only grow from row to row
  }
  return std::min<int64_t>(above_[reference_.size()], limit);
}

EditPath BandedEditDistance::path() const {
  EditPath path;
  size_t i = bands_.size() - 1, j = reference_.size();
  path.aligned.resize(j);
  path.hypothesis_wrong.resize(i + 1);
  path.reference_wrong.resize(j + 1);
  while (i > 0 || j > 0) {
    const Step step = i > 0 ? steps_[bands_[i].cells + j - bands_[i].begin] : Step::insert;
    const bool wrong = step != Step::match;
    if (step != Step::insert) path.hypothesis_wrong[i] = wrong;
    if (step != Step::remove) {
      path.reference_wrong[j] = wrong;
      path.aligned[j - 1] = static_cast<int64_t>(i) - 1;
    }
    if (step != Step::insert) --i;
    if (step != Step::remove) --j;
  }
  std::partial_sum(path.hypothesis_wrong.begin(), path.hypothesis_wrong.end(), path.hypothesis_wrong.begin());
  std::partial_sum(path.reference_wrong.begin(), path.reference_wrong.end(), path.reference_wrong.begin());
  return path;
}

}  // namespace dragoman::internal
