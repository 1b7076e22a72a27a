// The edit distance from arrangements of a sentence's words to a reference, within a band around the diagonal, as TER
// has it (edits.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman::internal {

// How a word of the hypothesis and one of the reference belong together on the cheapest way between the two.
struct EditPath {
  // For each word of the reference the last word of the hypothesis that is aligned to it or stands before it: −1 where
  // there is none.
  std::vector<int64_t> aligned;
  // How many words before each place are wrong: errors of words i to j are wrong[j] - wrong[i].
  std::vector<int64_t> hypothesis_wrong, reference_wrong;
};

class BandedEditDistance {
 public:
  // Of a hypothesis of this many words.
  BandedEditDistance(std::span<const int32_t> reference, size_t hypothesis_words);

  // Sets the hypothesis, and returns its distance.
  int64_t measure(std::span<const int32_t> hypothesis);

  // Of the hypothesis that was measured last.
  EditPath path() const;

  // The distance of another arrangement of that hypothesis, which has the same first words, `same` of them; or `limit`
  // if it is not below that.
  int64_t distance_of(std::span<const int32_t> words, size_t same, int64_t limit);

 private:
  // A step of the path backwards, in the order in which steps of equal cost are preferred.
  enum class Step : uint8_t { match, substitute, remove, insert };
  // The columns of a row that are computed. A column j stands for the first j words of the reference.
  struct Band {
    size_t begin, end;
    size_t cells;  // of the rows above
  };

  int32_t fill_row(size_t row, int32_t word, Step* steps);
  void begin_with_row(size_t row);

  std::span<const int32_t> reference_;
  std::vector<Band> bands_;  // of each row; row i stands for the first i words of the hypothesis
  // Of the hypothesis that was measured: the cells of all rows but the first.
  std::vector<int32_t> costs_;
  std::vector<Step> steps_;
  // The row above and the row itself; cells around the bands are infinite.
  std::vector<int32_t> above_, row_;
};

}  // namespace dragoman::internal
