// What the report of a prepared corpus says of its pairs.
#include <algorithm>
#include <cmath>

#include "data/corpora.h"
#include "data/encoded_pairs.h"

namespace dragoman::internal {
namespace {

// Of one side.
void expect_statistics(const nlohmann::json& report, const std::map<uint64_t, Encoded>& pairs,
                       std::vector<int32_t> Encoded::*side) {
  std::vector<size_t> lengths;
  double tokens = 0, unknown = 0;
  for (const auto& [index, pair] : pairs) {
    lengths.push_back((pair.*side).size());
    tokens += static_cast<double>(lengths.back());
    unknown += static_cast<double>(std::ranges::count(pair.*side, unknown_id));
  }
  std::ranges::sort(lengths);
  const auto count = static_cast<double>(lengths.size());
  EXPECT_DOUBLE_EQ(report.at("unknown").get<double>(), unknown / tokens);
  EXPECT_DOUBLE_EQ(report.at("mean_length").get<double>(), tokens / count);
  for (const auto& [name, share] : std::map<std::string, double>{
           {"p1", 0.01}, {"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}})
    EXPECT_EQ(report.at("lengths").at(name), lengths[static_cast<size_t>(std::ceil(share * count)) - 1])
        << name;
}

TEST(CorpusReports, HaveLengthsAndUnknownTokens) {
  const TemporaryFolder folder;
  ToyText text = toy_text(500);
  const PreparedCorpus plain =
      prepare_corpus(toy_data(folder, text), toy_vocabulary(), folder.path("plain"), 2);
  text.source += "ka 漢 lo\n漢\nka\n";
  text.target += "ka\nξ lo ξ\nka\n";
  const PreparedCorpus strange = prepare_corpus(toy_data(folder, text, "strange"),
                                                {.from = folder.path("plain")}, folder.path("strange"), 2);
  for (const PreparedCorpus* corpus : {&plain, &strange}) {
    const auto pairs = pairs_of(*corpus);
    EXPECT_EQ(pairs.size(), corpus == &plain ? 500U : 503U);
    expect_statistics(corpus->report.at("source"), pairs, &Encoded::source);
    expect_statistics(corpus->report.at("target"), pairs, &Encoded::target);
  }
  for (const char* side : {"source", "target"})
    EXPECT_GT(strange.report.at(side).at("unknown").get<double>(), 0);
}

// Of every 61st pair: four here.
TEST(CorpusReports, TellHowManySourcesHaveSeveralSentences) {
  const TemporaryFolder folder;
  for (const size_t of_two : {0, 100, 200}) {
    const PreparedCorpus corpus = prepare_corpus(toy_data(folder, toy_text_of_sentences(200, of_two)),
                                                 toy_vocabulary(), folder.path("data"), 2);
    EXPECT_EQ(corpus.report.at("several_sentences"), static_cast<double>(of_two) / 200);
  }
}

}  // namespace
}  // namespace dragoman::internal
