#include "text/subword_sampling.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "text/toy_text.h"

namespace dragoman::internal {
namespace {

Vocabulary learn_sampled(const VocabularyConfig& config, const std::vector<std::string>& lines) {
  const auto open = [&lines]() -> Sentences {
    return [&lines, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    };
  };
  return learn_vocabulary(config, open, "source");
}

std::string spelt(const Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) text += vocabulary.piece(id);
  return text;
}

class SamplingTest : public testing::Test {
 protected:
  TemporaryFolder quiet;
  const std::vector<std::string> lines = toy_text(300).source_lines;
  const Vocabulary bpe = learn_sampled({.size = 60}, lines);
  const Vocabulary unigram = learn_sampled({.kind = PieceKind::unigram, .size = 60}, lines);
};

// Without skipped merges the result is SentencePiece's.
TEST_F(SamplingTest, BpeWithoutDropoutIsTheUsualSegmentation) {
  const SubwordSampler sampler(bpe, 1e-300);
  for (const std::string& line : lines) {
    const std::vector<int32_t> ids = bpe.encode(line);
    Random random(1);
    EXPECT_EQ(sampler.sample(ids, random), ids) << line;
  }
}

TEST_F(SamplingTest, BpeWithoutMergesIsCharacters) {
  const SubwordSampler sampler(bpe, 1);
  Random random(1);
  for (const int32_t id : sampler.sample(bpe.encode("karsun lokamiter"), random)) {
    EXPECT_TRUE(bpe.piece(id).size() == 1 || bpe.piece(id) == "▁") << bpe.piece(id);
  }
}

TEST_F(SamplingTest, SampledPiecesSpellTheSameText) {
  for (const Vocabulary* vocabulary : {&bpe, &unigram}) {
    const SubwordSampler sampler(*vocabulary, vocabulary == &bpe ? 0.3 : 0.1);
    int64_t changed = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::vector<int32_t> ids = vocabulary->encode(lines[i]);
      Random random(i), again(i);
      const std::vector<int32_t> sampled = sampler.sample(ids, random);
      EXPECT_EQ(spelt(*vocabulary, sampled), spelt(*vocabulary, ids));
      EXPECT_EQ(sampler.sample(ids, again), sampled);
      changed += sampled != ids;
    }
    EXPECT_GT(changed, 100);
    EXPECT_LT(changed, 300);
  }
}

TEST_F(SamplingTest, SpecialTokensStay) {
  for (const Vocabulary* vocabulary : {&bpe, &unigram}) {
    const SubwordSampler sampler(*vocabulary, 0.5);
    std::vector<int32_t> ids = vocabulary->encode("ka☃lo ☃");
    ids.insert(ids.begin(), bos_id);
    ids.push_back(eos_id);
    for (uint64_t i = 0; i < 20; ++i) {
      Random random(i);
      const std::vector<int32_t> sampled = sampler.sample(ids, random);
      EXPECT_EQ(spelt(*vocabulary, sampled), spelt(*vocabulary, ids));
      EXPECT_EQ(std::count(sampled.begin(), sampled.end(), unknown_id), 2);
    }
  }
}

// Frequencies are proportional to the model's probabilities to the power of alpha.
TEST_F(SamplingTest, UnigramSegmentationsFollowTheirProbabilities) {
  const double alpha = 0.5;
  std::vector<std::string> without_spaces = toy_text(300, 3).source_lines;
  for (std::string& line : without_spaces) std::erase(line, ' ');
  const Vocabulary whole = learn_sampled({.kind = PieceKind::unigram, .size = 60}, without_spaces);
  const SubwordSampler sampler(whole, alpha);
  const std::vector<int32_t> ids = whole.encode("kalovar");
  std::map<std::vector<int32_t>, int64_t> counts;
  const int64_t draws = 20'000;
  Random random(7);
  for (int64_t i = 0; i < draws; ++i) ++counts[sampler.sample(ids, random)];
  ASSERT_GT(counts.size(), 5U);
  double sum = 0;
  const auto weight = [&](const std::vector<int32_t>& cut) {
    double score = 0;
    for (const int32_t id : cut) score += whole.score(id);
    return std::exp(alpha * score);
  };
  for (const auto& [cut, count] : counts) sum += weight(cut);
  for (const auto& [cut, count] : counts) {
    const double expected = weight(cut) / sum * static_cast<double>(draws);
    EXPECT_NEAR(static_cast<double>(count), expected, 5 * std::sqrt(expected) + 2) << spelt(whole, cut);
  }
}

}  // namespace
}  // namespace dragoman::internal
