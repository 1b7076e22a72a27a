// BLEU and chrF against sacreBLEU's figures (tests/golden/make_metrics_golden.py).
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

const std::string fixtures = DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/metrics_";

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

struct Golden {
  std::vector<std::string> hypotheses = lines_of(fixtures + "hypotheses.txt");
  std::vector<std::string> references = lines_of(fixtures + "references.txt");
  nlohmann::json scores = nlohmann::json::parse(read_file(fixtures + "scores.json"));
};

const Golden& golden() {
  static const Golden golden;
  return golden;
}

// Sums the statistics of each part that sacreBLEU scored, and compares what is printed.
template <typename Statistics, typename Print>
void compare(const nlohmann::json& expected, const std::vector<Statistics>& statistics, const Print& print) {
  for (const auto& part : expected["scores"]) {
    Statistics sums;
    for (size_t i = part[0]; i < part[1]; ++i) sums += statistics[i];
    EXPECT_EQ(print(sums), part[2].get<std::string>())
        << expected["signature"] << " lines " << part[0] << " to " << part[1] << "\n"
        << golden().hypotheses[part[0]] << "\n"
        << golden().references[part[0]];
  }
}

TEST(Metrics, BleuEqualsSacrebleu) {
  int compared = 0;
  for (const auto& expected : golden().scores) {
    if (expected["metric"] != "bleu") continue;
    const BleuOptions options = {.tokenizer = tokenizer_named(expected["tokenize"]),
                                 .lowercase = expected.value("lowercase", false)};
    EXPECT_EQ(bleu_signature(options), expected["signature"].get<std::string>() + "|version:2.x");
    std::vector<BleuStatistics> statistics;
    for (size_t i = 0; i < golden().hypotheses.size(); ++i) {
      statistics.push_back(bleu_statistics(golden().hypotheses[i], golden().references[i], options));
    }
    compare(expected, statistics, [](const BleuStatistics& sums) {
      return fmt::format("{:.6f} {}", bleu_score(sums).score, bleu_score(sums).details());
    });
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(Metrics, ChrfEqualsSacrebleu) {
  int compared = 0;
  for (const auto& expected : golden().scores) {
    if (expected["metric"] != "chrf") continue;
    const ChrfOptions options = {.word_order = expected.value("word_order", 0),
                                 .lowercase = expected.value("lowercase", false)};
    EXPECT_EQ(chrf_signature(options), expected["signature"].get<std::string>() + "|version:2.x");
    std::vector<ChrfStatistics> statistics;
    for (size_t i = 0; i < golden().hypotheses.size(); ++i) {
      statistics.push_back(chrf_statistics(golden().hypotheses[i], golden().references[i], options));
    }
    compare(expected, statistics,
            [](const ChrfStatistics& sums) { return fmt::format("{:.6f}", chrf_score(sums)); });
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

TEST(Metrics, EmptyTextScoresZero) {
  EXPECT_EQ(bleu_score({}).score, 0);
  EXPECT_EQ(chrf_score({}), 0);
  EXPECT_EQ(bleu_score({}).details(), "0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST(Metrics, NamesOfChrf) {
  EXPECT_EQ(chrf_name({}), "chrF2");
  EXPECT_EQ(chrf_name({.word_order = 2}), "chrF2++");
}

TEST(Unicode, InvalidUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(code_points("a\xff\xc3"), U"a\ufffd\ufffd");
  EXPECT_EQ(code_points("é😀"), U"\u00e9\U0001f600");
  // Scores stay defined: decoders that work on bytes can emit such text.
  EXPECT_GT(chrf_score(chrf_statistics("ab\xff", "ab")), 0);
}

TEST(Unicode, ArbitraryBytesAreRepaired) {
  EXPECT_EQ(repaired("aé€😀"), "aé€😀");
  EXPECT_EQ(repaired(std::string_view("a\0b\xffé\xe2\x82", 8)), "a\uFFFDb\uFFFDé\uFFFD");
  EXPECT_EQ(repaired(std::string_view("\0", 1)), "\uFFFD");
}

TEST(Unicode, WordsSplitAtPythonsWhiteSpace) {
  const std::u32string text = U"\u3000un\u00a0deux\x1ftrois\u200bquatre\n";
  const std::vector<std::u32string_view> words = {U"un", U"deux", U"trois\u200bquatre"};
  EXPECT_EQ(split_words(text), words);
}

}  // namespace
}  // namespace dragoman::internal
