#include "dragoman/metrics.h"

#include <vector>

#include <gtest/gtest.h>

#include "dragoman/version.h"
#include "metrics/bleu.h"

namespace dragoman {
namespace {

TEST(PublicMetrics, AreThoseOfTheEngine) {
  const std::vector<std::string> hypotheses = {"the cat sat on the mat", "A dog."},
                                 references = {"the cat sat on a mat", "a dog."};
  internal::BleuStatistics sums;
  for (size_t i = 0; i < 2; ++i)
    sums += internal::bleu_statistics(hypotheses[i], references[i], {.lowercase = true});
  const CorpusScore score = bleu(hypotheses, references, {.lowercase = true});
  EXPECT_EQ(score.score, internal::bleu_score(sums).score);
  EXPECT_EQ(score.signature, internal::bleu_signature({.lowercase = true}));
  EXPECT_EQ(chrf(references, references).score, 100);
  EXPECT_EQ(chrf(hypotheses, references, {.word_order = 2}).name, "chrF2++");
}

TEST(PublicMetrics, TakeSeveralReferencesAndAllTokenizers) {
  const std::vector<std::string> hypotheses = {"a cat sits here", "A dog."};
  const std::vector<std::vector<std::string>> references = {{"the cat sat here", "One dog."},
                                                            {"a cat sits there", "A dog."}};
  using Metric = CorpusScore (*)(std::span<const std::string>, SeveralReferences, const MetricSettings&);
  for (const Metric metric : std::initializer_list<Metric>{bleu, chrf, ter}) {
    const CorpusScore both = metric(hypotheses, references, {});
    EXPECT_NE(both.signature.find("nrefs:2|"), std::string::npos);
    EXPECT_NE(both.score, metric(hypotheses, {references.data(), 1}, {}).score) << both.name;
  }
  EXPECT_DOUBLE_EQ(ter(hypotheses, references).score,
                   100.0 / 6);  // one word is wrong, and references have six on average
  EXPECT_EQ(
      ter({hypotheses.data() + 1, 1}, std::vector<std::string>{"a dog"}, {.ter_no_punctuation = true}).score,
      0);
  for (const std::string& name : bleu_tokenizers()) {
    if (name.starts_with("flores") || name == "spBLEU-1K") {
      EXPECT_THROW(bleu(hypotheses, references, {.tokenizer = name}), Error) << name;
    } else {
      EXPECT_NE(bleu(hypotheses, references, {.tokenizer = name}).signature.find("tok:" + name),
                std::string::npos);
    }
  }
}

TEST(PublicMetrics, CompareTwoSystems) {
  std::vector<std::string> baseline, system, references;
  for (int i = 0; i < 60; ++i) {
    references.push_back("the cat number " + std::to_string(i) + " sat on the mat");
    system.push_back(i % 6 == 0 ? "the cat sat" : references.back());
    baseline.push_back(i % 2 == 0 ? "the cat sat" : references.back());
  }
  for (const char* test : {"bs", "ar"}) {
    const PairedComparison result = compare_systems(baseline, system, references, {.test = test});
    EXPECT_EQ(result.system.score, bleu(system, references).score);
    EXPECT_EQ(result.baseline.score, bleu(baseline, references).score);
    EXPECT_NEAR(result.system.mean, result.system.score, result.system.half_width);
    EXPECT_LT(result.p_value, 0.01) << test;
    EXPECT_EQ(compare_systems(system, system, references, {.metric = "ter", .test = test}).p_value, 1);
  }
  EXPECT_EQ(compare_systems(baseline, system, references, {.test = "ar", .samples = 9}).p_value, 0.1);
  EXPECT_THROW(compare_systems(baseline, system, references, {.test = "t"}), Error);
  EXPECT_THROW(compare_systems(baseline, system, references, {.metric = "blue"}), Error);
  EXPECT_THROW(compare_systems({}, {}, References{}), Error);
}

TEST(PublicMetrics, RefuseWhatDoesNotFit) {
  const std::vector<std::string> one = {"a"}, two = {"a", "b"};
  EXPECT_THROW(bleu(one, two), Error);
  EXPECT_THROW(bleu(one, std::vector{one, two}), Error);
  EXPECT_THROW(bleu(one, SeveralReferences{}), Error);
  EXPECT_THROW(bleu(one, one, {.tokenizer_model = "a.model"}), Error);
  EXPECT_THROW(bleu(one, one, {.tokenizer = "14a"}), Error);
  EXPECT_THROW(chrf(one, one, {.word_order = 9}), Error);
}

TEST(Version, IsThatOfTheHeaders) { EXPECT_STREQ(version(), DRAGOMAN_VERSION); }

}  // namespace
}  // namespace dragoman
