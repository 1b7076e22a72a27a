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

TEST(PublicMetrics, RefuseWhatDoesNotFit) {
  const std::vector<std::string> one = {"a"}, two = {"a", "b"};
  EXPECT_THROW(bleu(one, two), Error);
  EXPECT_THROW(bleu(one, one, {.tokenizer = "14a"}), Error);
  EXPECT_THROW(chrf(one, one, {.word_order = 9}), Error);
}

TEST(Version, IsThatOfTheHeaders) { EXPECT_STREQ(version(), DRAGOMAN_VERSION); }

}  // namespace
}  // namespace dragoman
