// Noise in a prepared corpus: of some pairs, none that are held out, the same with any number of threads.
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/corpora.h"
#include "data/prepare_corpus.h"
#include "text/scripts.h"

namespace dragoman::internal {
namespace {

std::vector<std::string> prepared_sources(const DataConfig& data, const std::string& path, int threads) {
  const PreparedCorpus corpus = prepare_corpus(data, toy_vocabulary(), path, threads);
  std::vector<std::string> texts;
  std::vector<int32_t> source, target;
  for (const PairRecord& record : corpus.shards.at(0).pairs()) {
    corpus.shards[0].read(record, source, target);
    texts.push_back(corpus.vocabularies.source->decode(source));
  }
  return texts;
}

TEST(PrepareNoise, ChangesItsShareOfThePairsThatAreTrainedOn) {
  const TemporaryFolder folder;
  const ToyText text = toy_text(500);
  DataConfig data = toy_data(folder, text);
  data.hold_out = 50;
  data.noise.upper = 0.2;
  const auto one = prepared_sources(data, folder.path("one"), 1),
             three = prepared_sources(data, folder.path("three"), 3);
  EXPECT_EQ(one, three);
  EXPECT_EQ(one.size(), 450U);
  size_t upper = 0;
  for (const std::string& line : one) upper += is_upper(static_cast<unsigned char>(line.at(0)));
  EXPECT_GT(upper, 50U);
  EXPECT_LT(upper, 140U);
  const std::string held_out = read_file(folder.path("one") + "/held-out.source");
  EXPECT_TRUE(std::ranges::none_of(held_out, [](unsigned char c) { return c < 0x80 && is_upper(c); }));
}

TEST(PrepareNoise, HasAtMostOneCase) {
  DataConfig data;
  data.noise = {.upper = 0.6, .title = 0.6};
  EXPECT_THROW(validate(data), OptionError);
}

}  // namespace
}  // namespace dragoman::internal
