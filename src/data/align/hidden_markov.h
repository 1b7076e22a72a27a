// The hidden Markov model of word alignment (Vogel et al., 1996), in one direction: each target word comes from a
// source word, or from the null word, and the next one from a word some jump further.
//
// A jump's probability depends on its distance alone. The null word remembers the last source position before it (Och
// and Ney, 2003).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/align/translation_table.h"

namespace dragoman::internal {

// Values for each target word: one for each source word, and one for the null word, which is last.
template <class T>
struct WordMatrix {
  size_t targets = 0, sources = 0;
  std::vector<T> values;  // [targets, sources + 1]

  void resize(size_t new_targets, size_t new_sources) {
    targets = new_targets;
    sources = new_sources;
    values.resize(targets * (sources + 1));
  }
  std::span<T> row(size_t target) { return std::span(values).subspan(target * (sources + 1), sources + 1); }
  std::span<const T> row(size_t target) const {
    return std::span(values).subspan(target * (sources + 1), sources + 1);
  }
};

// How likely a jump is, or how often it was expected, by its distance: from -longest to longest; those beyond count as
// the longest.
struct Jumps {
  static constexpr int64_t longest = 100;
  std::array<float, 2 * longest + 1> values = {};

  float& operator[](int64_t distance) {
    return values[static_cast<size_t>(std::clamp(distance, -longest, longest) + longest)];
  }
  float operator[](int64_t distance) const {
    return values[static_cast<size_t>(std::clamp(distance, -longest, longest) + longest)];
  }
};

struct HiddenMarkovModel {
  TranslationTable table;
  Jumps jumps;  // not normalised: in a sentence only some can be made
};

// What a pair of sentences needs; one object serves many pairs.
class PairPosteriors {
 public:
  // Finds the entries of the table, and p(target word | source word).
  void find(const TranslationTable& table, std::span<const int32_t> source, std::span<const int32_t> target);

  // The probability that each target word comes from each source word, given both sentences: with every jump equally
  // likely (IBM model 1), or with the model's. Adds the expected number of each jump where that is asked for.
  void without_jumps();
  void with_jumps(const Jumps& jumps, Jumps* expected);

  const WordMatrix<float>& posteriors() const { return posteriors_; }
  const WordMatrix<TranslationTable::Place>& places() const { return places_; }

 private:
  // States: before the sentence, then at each of its words; last, behind it.
  size_t states() const { return emissions_.sources + 1; }
  void prepare(const Jumps& jumps);
  std::span<float> state_row(std::vector<float>& rows, size_t target) {
    return std::span(rows).subspan(target * states(), states());
  }
  void leave(std::span<const float> states, std::span<float> arrivals) const;
  void pass_forward();
  void pass_backward(Jumps* expected);
  void add_expected(std::span<const float> before, std::span<const float> after, Jumps& expected) const;

  WordMatrix<TranslationTable::Place> places_;
  WordMatrix<float> emissions_, posteriors_;
  std::vector<float> weights_;  // of the jumps that the sentence has: from -sources to sources + 1
  std::vector<float> leaving_;  // 1 / the sum of the weights of what is in reach, by state
  std::vector<float>
      forward_;  // [targets + 1, states]: probabilities of all words up to a target word, scaled
  std::vector<float> word_part_, backward_, next_, arrivals_;
};

}  // namespace dragoman::internal
