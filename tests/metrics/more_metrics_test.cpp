// TER, several references, and paired tests against sacreBLEU's figures (tests/golden/make_significance_golden.py).
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "metrics/edits.h"
#include "metrics/significance.h"

namespace dragoman::internal {
namespace {

const std::string more_fixtures = DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/metrics_";

std::vector<std::string> all_lines(const std::string& name) {
  std::istringstream text(read_file(more_fixtures + name + ".txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The rules of the script.
std::string variant(const std::string& line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::rotate(words.begin(), words.begin() + std::ssize(words) / 2, words.end());
  std::string result = words[0];
  for (size_t i = 1; i < words.size(); ++i) result += " " + words[i];
  return result;
}

struct TestSet {
  std::vector<std::string> hypotheses = all_lines("hypotheses"), references = all_lines("references");
  nlohmann::json expected = nlohmann::json::parse(read_file(more_fixtures + "more.json"));

  std::vector<std::string> references_of(size_t i, size_t count) const {
    std::vector<std::string> all = {references[i], variant(references[i]),
                                    references[(i + 1) % references.size()]};
    all.resize(count);
    return all;
  }

  std::string second_system(size_t i) const {
    if (i % 20 == 3) return references[i];
    return i % 20 == 13 ? variant(hypotheses[i]) : hypotheses[i];
  }
};

const TestSet& test_set() {
  static const TestSet set;
  return set;
}

// `measure`: statistics of a hypothesis and its references; `score`: of their sums.
template <class Measure, class Score>
void compare(const nlohmann::json& expected, const Measure& measure, const Score& score) {
  decltype(measure({}, {})) all, group;
  size_t next = 1;
  const std::vector<std::string>& hypotheses = test_set().hypotheses;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const std::vector<std::string> texts = test_set().references_of(i, expected["references"]);
    const std::vector<std::string_view> references(texts.begin(), texts.end());
    const auto one = measure(hypotheses[i], references);
    all += one;
    group += one;
    if (i % 4 != 3 && i + 1 != hypotheses.size()) continue;
    EXPECT_EQ(fmt::format("{:.6f}", score(group)), expected["scores"].at(next++).get<std::string>())
        << expected["signature"] << " line " << i + 1;
    group = {};
  }
  EXPECT_EQ(fmt::format("{:.6f}", score(all)), expected["scores"][0].get<std::string>())
      << expected["signature"];
}

TEST(MoreMetrics, TerBleuAndChrfEqualSacrebleuWithAnyNumberOfReferences) {
  int compared = 0;
  for (const nlohmann::json& expected : test_set().expected["scores"]) {
    const size_t count = expected["references"];
    const std::string metric = expected["metric"],
                      signature = expected["signature"].get<std::string>() + "|version:2.x";
    ++compared;
    if (metric == "ter") {
      const TerOptions o = {.normalized = expected.value("normalized", false),
                            .no_punctuation = expected.value("no_punct", false),
                            .asian_support = expected.value("asian_support", false),
                            .case_sensitive = expected.value("case_sensitive", false)};
      EXPECT_EQ(ter_signature(o, count), signature);
      compare(
          expected,
          [&](std::string_view h, std::span<const std::string_view> r) { return ter_statistics(h, r, o); },
          [](const TerStatistics& sums) { return ter_score(sums).score; });
    } else if (metric == "bleu") {
      const BleuOptions o = {.tokenizer =
                                 expected["tokenize"] == "zh" ? Tokenizer::chinese : Tokenizer::thirteen_a};
      EXPECT_EQ(bleu_signature(o, count), signature);
      compare(
          expected,
          [&](std::string_view h, std::span<const std::string_view> r) { return bleu_statistics(h, r, o); },
          [](const BleuStatistics& sums) { return bleu_score(sums).score; });
    } else {
      const ChrfOptions o = {.word_order = expected["word_order"]};
      EXPECT_EQ(chrf_signature(o, count), signature);
      compare(
          expected,
          [&](std::string_view h, std::span<const std::string_view> r) { return chrf_statistics(h, r, o); },
          [](const ChrfStatistics& sums) { return chrf_score(sums); });
    }
  }
  EXPECT_EQ(compared, 30);
}

TEST(MoreMetrics, EditsOfShiftedPhrasesEqualSacrebleu) {
  for (const nlohmann::json& pair : test_set().expected["edits"]) {
    const TerStatistics statistics = ter_statistics(pair[0].get<std::string>(), pair[1].get<std::string>());
    EXPECT_EQ(statistics.edits, pair[2].get<int64_t>()) << pair[0] << "\n" << pair[1];
  }
  EXPECT_EQ(edits_with_shifts(std::vector<int32_t>{3, 4, 1, 2}, std::vector<int32_t>{1, 2, 3, 4}), 1);
}

TEST(MoreMetrics, TerOfEmptyText) {
  EXPECT_EQ(ter_score({}).score, 0);
  EXPECT_EQ(ter_score(ter_statistics("a b", "")).score, 100);
  EXPECT_EQ(ter_score(ter_statistics("", "a b")).score, 100);
}

struct TwoSystems {
  std::vector<BleuStatistics> bleu[2];
  std::vector<ChrfStatistics> chrf[2];
  std::vector<TerStatistics> ter[2];

  TwoSystems() {
    for (size_t i = 0; i < test_set().hypotheses.size(); ++i) {
      const std::string texts[2] = {test_set().hypotheses[i], test_set().second_system(i)};
      const std::string& reference = test_set().references[i];
      for (size_t s = 0; s < 2; ++s) {
        bleu[s].push_back(bleu_statistics(texts[s], reference));
        chrf[s].push_back(chrf_statistics(texts[s], reference));
        ter[s].push_back(ter_statistics(texts[s], reference));
      }
    }
  }
};

// Two p-values from 4,000 samples each differ by less than 0.04 in all but one of a thousand cases.
void expect_near(const PairedResult& ours, const nlohmann::json& theirs) {
  EXPECT_NEAR(ours.score, theirs["score"].get<double>(), 1e-9);
  EXPECT_NEAR(ours.p_value, theirs["p_value"].get<double>(), 0.04);
  EXPECT_NEAR(ours.confidence.mean, theirs["mean"].get<double>(), 0.15);
  EXPECT_NEAR(ours.confidence.half_width / theirs["ci"].get<double>(), 1, 0.1);
}

TEST(MoreMetrics, PairedTestsAgreeWithSacrebleu) {
  const TwoSystems systems;
  const auto& bootstrap = test_set().expected["bootstrap"];
  const auto& randomization = test_set().expected["randomization"];
  const auto compare_both = [&](const auto(&statistics)[2], const char* name) {
    const SentenceStatistics baseline(statistics[0]), system(statistics[1]);
    expect_near(paired_bootstrap(baseline, system, 4000), bootstrap[name]);
    expect_near(paired_randomization(baseline, system, 4000), randomization[name]);
  };
  compare_both(systems.bleu, "BLEU");
  compare_both(systems.chrf, "chrF2");
  compare_both(systems.ter, "TER");
}

TEST(MoreMetrics, PairedTestsKeepTheirProperties) {
  const TwoSystems systems;
  const SentenceStatistics a(systems.ter[0]), b(systems.ter[1]);
  for (const auto test : {paired_bootstrap, paired_randomization}) {
    EXPECT_EQ(test(a, a, 500, 1).p_value, 1);
    EXPECT_EQ(test(a, b, 500, 1).p_value, test(b, a, 500, 1).p_value);
    EXPECT_EQ(test(a, b, 500, 1).p_value, test(a, b, 500, 1).p_value);
    EXPECT_NE(test(a, b, 500, 1).p_value, test(a, b, 500, 2).p_value);
    EXPECT_EQ(test(a, b, 500, 1).confidence.mean,
              bootstrap_confidence(b, test == paired_bootstrap ? 500 : 1000, 1).mean);
  }
  std::vector<TerStatistics> perfect = systems.ter[0];
  for (TerStatistics& one : perfect) one.edits = 0;
  const SentenceStatistics best(perfect);
  EXPECT_EQ(paired_randomization(a, best, 999).p_value, 0.001);
  EXPECT_EQ(paired_bootstrap(a, best, 999).p_value, 0.001);
}

}  // namespace
}  // namespace dragoman::internal
