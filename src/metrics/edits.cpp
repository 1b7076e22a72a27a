#include "metrics/edits.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "metrics/edit_distance.h"

namespace dragoman::internal {
namespace {

// Tercom's limits, and sacreBLEU's of what is tried for a sentence.
constexpr size_t longest_phrase = 10, furthest_shift = 50, most_tried = 1000;

using WordNumbers = std::vector<int32_t>;

// Words `from` to `from` + `length` of the hypothesis go to before the word `to`.
struct Shift {
  size_t from, length, to;
};

// The words before min(from, to) stay. Within the phrase, `to` counts the words behind it that go before it instead.
void apply(const Shift& shift, const WordNumbers& words, WordNumbers& shifted) {
  shifted = words;
  const auto begin = shifted.begin() + static_cast<int64_t>(shift.from),
             end = begin + static_cast<int64_t>(shift.length);
  const size_t behind = shift.from + shift.length;
  if (shift.to < shift.from) {
    std::rotate(shifted.begin() + static_cast<int64_t>(shift.to), begin, end);
  } else {
    const size_t last = shift.to > behind ? shift.to : std::min(shift.length + shift.to, words.size());
    std::rotate(begin, end, shifted.begin() + static_cast<int64_t>(last));
  }
}

// The shift that saves most; of several the longest, the first, the one that goes furthest to the front.
struct BestShift {
  int64_t saved = 0;
  Shift shift = {};
  WordNumbers words = {};

  bool is_before(int64_t other_saved, const Shift& other) const {
    return std::tuple(-saved, -static_cast<int64_t>(shift.length), shift.from, shift.to) <=
           std::tuple(-other_saved, -static_cast<int64_t>(other.length), other.from, other.to);
  }
};

class ShiftSearch {
 public:
  ShiftSearch(std::span<const int32_t> hypothesis, std::span<const int32_t> reference)
      : words_(hypothesis.begin(), hypothesis.end()),
        reference_(reference),
        distance_(reference, hypothesis.size()) {}

  int64_t edits() {
    for (int64_t shifts = 0;; ++shifts) {
      now_ = distance_.measure(words_);
      best_ = {};
      try_all();
      if (tried_ >= most_tried || best_.saved <= 0) return shifts + now_;
      words_ = best_.words;
    }
  }

 private:
  // All phrases that also stand elsewhere in the reference.
  void try_all() {
    const EditPath path = distance_.path();
    for (size_t i = 0; i < words_.size(); ++i) {
      const size_t first = i > furthest_shift ? i - furthest_shift : 0;
      for (size_t j = first; j < std::min(reference_.size(), i + furthest_shift + 1); ++j) {
        const size_t longest = std::min({longest_phrase, words_.size() - i, reference_.size() - j});
        for (size_t length = 1; length <= longest && words_[i + length - 1] == reference_[j + length - 1];
             ++length) {
          if (is_worth_trying(path, i, j, length)) try_targets(path, i, j, length);
          if (tried_ >= most_tried) return;
        }
      }
    }
  }

  // Something is wrong both in the phrase and where it would go, and it would not go to where it is.
  static bool is_worth_trying(const EditPath& path, size_t i, size_t j, size_t length) {
    const auto from = static_cast<int64_t>(i), end = static_cast<int64_t>(i + length);
    return path.hypothesis_wrong[i + length] > path.hypothesis_wrong[i] &&
           path.reference_wrong[j + length] > path.reference_wrong[j] &&
           (path.aligned[j] < from || path.aligned[j] >= end);
  }

  // Behind what is aligned to the word before the phrase in the reference, or to one of the phrase's own words.
  void try_targets(const EditPath& path, size_t i, size_t j, size_t length) {
    size_t last = words_.size() + 1;
    for (size_t at = j; at < j + length + 1; ++at) {
      const size_t to = at == 0 ? 0 : static_cast<size_t>(path.aligned[at - 1] + 1);
      if (to == last) continue;
      last = to;
      try_shift({i, length, to});
    }
  }

  // What saves less than the best is not measured to the end.
  void try_shift(const Shift& shift) {
    ++tried_;
    apply(shift, words_, shifted_);
    const int64_t limit = now_ - std::max<int64_t>(best_.saved, 1) + 1;
    const int64_t edits = distance_.distance_of(shifted_, std::min(shift.from, shift.to), limit);
    if (edits >= limit || (best_.saved > 0 && best_.is_before(now_ - edits, shift))) return;
    best_ = {now_ - edits, shift, shifted_};
  }

  WordNumbers words_, shifted_;
  std::span<const int32_t> reference_;
  BandedEditDistance distance_;
  int64_t now_ = 0;  // the distance of words_
  BestShift best_;
  size_t tried_ = 0;
};

}  // namespace

int64_t edits_with_shifts(std::span<const int32_t> hypothesis, std::span<const int32_t> reference) {
  if (reference.empty()) return std::ssize(hypothesis);
  return ShiftSearch(hypothesis, reference).edits();
}

}  // namespace dragoman::internal
