// The aligner on a synthetic language with known links: an ambiguous dictionary, words that become two, words that are
// left out or added, and neighbours that change places.
#include "data/align/aligner.h"

#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

struct SyntheticPair {
  Ids source, target;
  std::vector<Link> links;
};

constexpr int32_t content_words = 300, function_words = 4;
constexpr int32_t ids_of_side = 2 * content_words + function_words;

// A frequent word more often than a rare one.
int32_t drawn_word(Random& random) {
  const double u = random.uniform();
  return static_cast<int32_t>(u * u * content_words);
}

std::vector<Ids> translations(int32_t word) {
  if (word % 3 == 0) return {{word, content_words + word}, {word}};
  return {{word}, {content_words + word}};
}

SyntheticPair drawn_pair(Random& random) {
  SyntheticPair pair;
  std::vector<std::pair<int32_t, Ids>> units;
  const uint64_t length = 3 + random.below(12);
  while (pair.source.size() < length) {
    const auto place = static_cast<int32_t>(pair.source.size());
    if (random.uniform() < 0.15) {
      pair.source.push_back(2 * content_words + static_cast<int32_t>(random.below(function_words)));
      continue;
    }
    const int32_t word = drawn_word(random);
    pair.source.push_back(word);
    if (random.uniform() > 0.04)
      units.emplace_back(place, translations(word)[random.uniform() < 0.7 ? 0 : 1]);
  }
  for (size_t i = 0; i + 1 < units.size(); ++i) {
    if (random.uniform() < 0.2) std::swap(units[i], units[i + 1]), ++i;
  }
  for (const auto& [place, words] : units) {
    if (random.uniform() < 0.15)
      pair.target.push_back(2 * content_words + static_cast<int32_t>(random.below(function_words)));
    for (const int32_t word : words) {
      pair.links.push_back({place, static_cast<int32_t>(pair.target.size())});
      pair.target.push_back(word);
    }
  }
  return pair;
}

std::vector<SyntheticPair> drawn_pairs(size_t count) {
  Random random(7);
  std::vector<SyntheticPair> pairs;
  while (pairs.size() < count) pairs.push_back(drawn_pair(random));
  return pairs;
}

PairsToAlign to_align(const std::vector<SyntheticPair>& pairs) {
  return {.count = pairs.size(),
          .read =
              [&pairs](size_t i, Ids& source, Ids& target) {
                source = pairs[i].source;
                target = pairs[i].target;
              },
          .source_words = ids_of_side,
          .target_words = ids_of_side};
}

// 1 - F1: the alignment error rate where all links are sure.
double error_rate(const std::vector<SyntheticPair>& pairs, const AlignmentModel& model,
                  Symmetrization symmetrization) {
  size_t found = 0, known = 0, right = 0;
  for (const SyntheticPair& pair : pairs) {
    const std::vector<Link> links = model.links(pair.source, pair.target, symmetrization);
    const std::set<Link> truth(pair.links.begin(), pair.links.end());
    found += links.size();
    known += truth.size();
    for (const Link link : links) right += truth.contains(link);
  }
  return 1 - 2 * static_cast<double>(right) / static_cast<double>(found + known);
}

class AlignerTest : public testing::Test {
 protected:
  const std::vector<SyntheticPair> pairs_ = drawn_pairs(1500);
};

TEST_F(AlignerTest, FindsKnownLinks) {
  const AlignmentModel model = learn_alignment(to_align(pairs_));
  EXPECT_LT(error_rate(pairs_, model, Symmetrization::grow_diag_final_and), 0.1);
  EXPECT_LT(error_rate(pairs_, model, Symmetrization::forward), 0.15);
  const AlignmentModel model1 = learn_alignment(to_align(pairs_), {.markov_rounds = 0});
  EXPECT_LT(error_rate(pairs_, model, Symmetrization::forward),
            error_rate(pairs_, model1, Symmetrization::forward));
}

// In few pairs most words are rare: the null word must not keep them.
TEST_F(AlignerTest, LinksRareWords) {
  const std::vector<SyntheticPair> few(pairs_.begin(), pairs_.begin() + 100);
  const AlignmentModel model = learn_alignment(to_align(few));
  EXPECT_LT(error_rate(few, model, Symmetrization::grow_diag_final_and), 0.25);
}

TEST_F(AlignerTest, DoesNotDependOnThreads) {
  const AlignmentModel one = learn_alignment(to_align(pairs_), {.threads = 1}),
                       four = learn_alignment(to_align(pairs_), {.threads = 4});
  for (int32_t word = 0; word < ids_of_side; ++word) {
    EXPECT_TRUE(std::ranges::equal(one.forward().probabilities(word), four.forward().probabilities(word)));
    EXPECT_TRUE(std::ranges::equal(one.backward().words(word), four.backward().words(word)));
  }
  for (const SyntheticPair& pair : pairs_)
    ASSERT_EQ(one.links(pair.source, pair.target), four.links(pair.source, pair.target));
}

TEST_F(AlignerTest, LearnsFromASampleInLittleMemory) {
  const AlignmentModel model =
      learn_alignment(to_align(pairs_), {.max_pairs = 700, .max_entries = 2 * ids_of_side * 40});
  for (int32_t word = 0; word < ids_of_side; ++word) EXPECT_LE(model.forward().words(word).size(), 40U);
  EXPECT_EQ(model.sampled_pairs(), 500U);  // every third
  EXPECT_LT(error_rate(pairs_, model, Symmetrization::grow_diag_final_and), 0.3);
}

TEST_F(AlignerTest, RowsAreProbabilities) {
  const AlignmentModel model = learn_alignment(to_align(pairs_));
  for (int32_t word = 0; word <= ids_of_side; ++word) {
    double sum = 0;
    for (const float probability : model.forward().probabilities(word))
      sum += static_cast<double>(probability);
    EXPECT_LE(sum, 1.001);
  }
}

TEST_F(AlignerTest, LinksAnyInput) {
  const AlignmentModel model = learn_alignment(to_align(pairs_));
  const Ids few = {1, 2, 3}, unknown = {-1, 99'999, INT32_MAX}, none;
  EXPECT_TRUE(model.links(few, none).empty());
  EXPECT_TRUE(model.links(none, few).empty());
  for (const Link link : model.links(unknown, few)) EXPECT_LT(link.source, 3);
  for (const Link link : model.links(few, unknown)) EXPECT_LT(link.target, 3);
  EXPECT_TRUE(model.links(Ids(max_aligned_length + 1, 1), few).empty());
  EXPECT_FALSE(model.links(Ids(max_aligned_length, 1), few).empty());
  EXPECT_TRUE(learn_alignment({.read = [](size_t, Ids&, Ids&) {}})
                  .links(few, few, Symmetrization::intersection)
                  .size() <= 3);
}

TEST(Symmetrize, CombinesBothDirections) {
  const std::vector<Link> forward = {{0, 0}, {1, 1}, {1, 2}, {4, 4}},
                          backward = {{0, 0}, {1, 1}, {3, 3}, {0, 4}};
  const auto combined = [&](Symmetrization s) { return symmetrized(forward, backward, 5, 5, s); };
  EXPECT_EQ(combined(Symmetrization::intersection), (std::vector<Link>{{0, 0}, {1, 1}}));
  EXPECT_EQ(combined(Symmetrization::grow_diag), (std::vector<Link>{{0, 0}, {1, 1}, {1, 2}}));
  // Both words of a link that is added last must be free: 4-4 takes target word 4, so 0-4 is not added.
  EXPECT_EQ(combined(Symmetrization::grow_diag_final_and),
            (std::vector<Link>{{0, 0}, {1, 1}, {1, 2}, {3, 3}, {4, 4}}));
  EXPECT_EQ(combined(Symmetrization::unite),
            (std::vector<Link>{{0, 0}, {1, 1}, {1, 2}, {3, 3}, {0, 4}, {4, 4}}));
  EXPECT_EQ(combined(Symmetrization::forward), forward);
  EXPECT_EQ(combined(Symmetrization::backward), backward);
}

}  // namespace
}  // namespace dragoman::internal
