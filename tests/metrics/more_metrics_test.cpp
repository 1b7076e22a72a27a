// TER, several references, and paired tests against sacreBLEU's figures (tests/golden/make_significance_golden.py).
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "metrics/edits.h"
#include "metrics/significance.h"
#include "text/unicode.h"

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
  // The script takes this model for that of FLORES.
  const auto pieces = subwords_for(Tokenizer::flores101, DRAGOMAN_SOURCE_DIR "/docs/model/shared.spm");
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
          [](const TerStatistics& sums) { return ter_score(sums); });
    } else if (metric == "bleu") {
      const Tokenizer tokenizer = tokenizer_named(expected["tokenize"]);
      const BleuOptions o = {.tokenizer = tokenizer,
                             .subwords = tokenizer == Tokenizer::flores101 ? pieces : nullptr};
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
  EXPECT_EQ(compared, 33);
}

// How many tokens a character makes between two letters.
int64_t tokens_with(const std::string& name, const std::string& c) {
  if (name == "ter_normalized")
    return ter_statistics("a" + c + "b", "", {.normalized = true, .asian_support = true}).edits;
  if (name == "ter_no_punct")
    return ter_statistics("a " + c + " b", "", {.no_punctuation = true, .asian_support = true}).edits;
  return bleu_statistics("a" + c + "b", "", {.tokenizer = tokenizer_named(name)}).hypothesis_length;
}

// Of each run of characters that make as many tokens, the first, the last and some between.
TEST(MoreMetrics, CharactersAreTokensWhereSacrebleuMakesThemOne) {
  for (const auto& [name, runs] : test_set().expected["tokens"].items()) {
    for (size_t i = 0; i < runs.size(); ++i) {
      const char32_t first = runs[i][0].get<char32_t>(),
                     end = i + 1 < runs.size() ? runs[i + 1][0].get<char32_t>() : 0x10000;
      for (char32_t c = first; c < end; ++c) {
        const bool is_surrogate = c >= 0xD800 && c < 0xE000, is_border = c == first || c + 1 == end;
        if (is_surrogate || (!is_border && c % 16 != 0)) continue;
        ASSERT_EQ(tokens_with(name, to_utf8(c)), runs[i][1].get<int64_t>())
            << name << ", character " << uint32_t{c};
      }
    }
  }
}

TEST(MoreMetrics, EditsOfShiftedPhrasesEqualSacrebleu) {
  for (const nlohmann::json& pair : test_set().expected["edits"]) {
    const TerStatistics statistics = ter_statistics(pair[0].get<std::string>(), pair[1].get<std::string>());
    EXPECT_EQ(statistics.edits, pair[2].get<int64_t>()) << pair[0] << "\n" << pair[1];
  }
  EXPECT_EQ(edits_with_shifts(std::vector<int32_t>{3, 4, 1, 2}, std::vector<int32_t>{1, 2, 3, 4}), 1);
}

TEST(MoreMetrics, AHyphenAtTheEndOfALineJoinsItsWord) {
  EXPECT_EQ(bleu_statistics("a-\nb c", "ab c").matches[0], 2);
}

TEST(MoreMetrics, TerOfEmptyText) {
  EXPECT_EQ(ter_score({}), 0);
  EXPECT_EQ(ter_score(ter_statistics("a b", "")), 100);
  EXPECT_EQ(ter_score(ter_statistics("", "a b")), 100);
}

// The two systems' sentences by one metric.
struct TwoSystems {
  SentenceStatistics baseline, system;

  explicit TwoSystems(const char* metric) : baseline(metric_named(metric)), system(metric_named(metric)) {
    for (size_t i = 0; i < test_set().hypotheses.size(); ++i) {
      const std::string& reference = test_set().references[i];
      baseline.add(test_set().hypotheses[i], reference);
      system.add(test_set().second_system(i), reference);
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
  const auto& expected = test_set().expected;
  for (const char* name : {"bleu", "chrf", "ter"}) {
    const TwoSystems two(name);
    const std::string printed = two.system.metric().name();
    expect_near(paired_bootstrap(two.baseline, two.system, 4000), expected["bootstrap"][printed]);
    expect_near(paired_randomization(two.baseline, two.system, 4000), expected["randomization"][printed]);
  }
}

TEST(MoreMetrics, PairedTestsKeepTheirProperties) {
  const TwoSystems two("ter");
  const SentenceStatistics &a = two.baseline, &b = two.system;
  for (const auto test : {paired_bootstrap, paired_randomization}) {
    EXPECT_EQ(test(a, a, 500, 1).p_value, 1);
    EXPECT_EQ(test(a, b, 500, 1).p_value, test(b, a, 500, 1).p_value);
    EXPECT_EQ(test(a, b, 500, 1).p_value, test(a, b, 500, 1).p_value);
    EXPECT_NE(test(a, b, 500, 1).p_value, test(a, b, 500, 2).p_value);
    EXPECT_EQ(test(a, b, 500, 1).confidence.mean,
              bootstrap_confidence(b, test == paired_bootstrap ? 500 : 1000, 1).mean);
  }
  EXPECT_EQ(paired_test(PairedTest::bootstrap, a, b, 500, 1).p_value, paired_bootstrap(a, b, 500, 1).p_value);
  EXPECT_EQ(paired_test(PairedTest::randomization, a, b, 500, 1).p_value,
            paired_randomization(a, b, 500, 1).p_value);
  SentenceStatistics perfect(metric_named("ter"));
  for (const std::string& reference : test_set().references) perfect.add(reference, reference);
  EXPECT_EQ(paired_randomization(a, perfect, 999).p_value, 0.001);
  EXPECT_EQ(paired_bootstrap(a, perfect, 999).p_value, 0.001);
}

// The sums of a metric are those of the functions that it stands for.
TEST(MoreMetrics, MetricsBehindOneInterfaceAreTheSame) {
  const std::string_view hypothesis = "the cat sat on the mat .",
                         references[] = {"a cat sat on a mat .", "the cat sat"};
  const auto of = [&](const char* name) {
    const auto metric = metric_named(name, {.chrf = {.word_order = 2}});
    return std::pair(metric, metric->statistics(hypothesis, references));
  };
  const auto [bleu, bleu_sums] = of("bleu");
  const BleuScore expected = bleu_score(bleu_statistics(hypothesis, references));
  EXPECT_EQ(bleu->score(bleu_sums), expected.score);
  EXPECT_EQ(bleu->details(bleu_sums), expected.details());
  EXPECT_EQ(bleu->signature(2), bleu_signature({}, 2));
  const auto [chrf, chrf_sums] = of("chrf");
  EXPECT_EQ(chrf->score(chrf_sums), chrf_score(chrf_statistics(hypothesis, references, {.word_order = 2})));
  EXPECT_EQ(chrf->name(), "chrF2++");
  const auto [ter, ter_sums] = of("ter");
  EXPECT_EQ(ter->score(ter_sums), ter_score(ter_statistics(hypothesis, references)));
  EXPECT_TRUE(ter->lower_is_better());
  auto [exact, sums] = of("exact_match");
  EXPECT_EQ(exact->score(sums), 0);
  add_to(sums, exact->statistics("the cat sat \n", references));
  EXPECT_EQ(exact->score(sums), 50);
  EXPECT_EQ(exact->details(sums), "(1 of 2)");
  for (const auto& metric : {bleu, chrf, ter, exact}) EXPECT_EQ(metric->score({}), 0) << metric->name();
  EXPECT_THROW(metric_named("bleurt"), UsageError);
}

}  // namespace
}  // namespace dragoman::internal
