// dragoman metrics, as a user meets it.
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

class MetricsCommand : public testing::Test {
 protected:
  ~MetricsCommand() override {
    for (const std::string& file : files_) std::remove(file.c_str());
  }

  std::string file(const std::string& name) const { return testing::TempDir() + "lines." + name; }

  void write(const std::string& name, const std::string& text) {
    files_.push_back(file(name));
    std::ofstream(files_.back()) << text;
  }

  static std::string run(const Arguments& arguments) {
    testing::internal::CaptureStdout();
    try {
      metrics(arguments);
    } catch (const Error& error) {
      testing::internal::GetCapturedStdout();
      return error.what();
    }
    return testing::internal::GetCapturedStdout();
  }

  std::string print(const std::string& hypothesis, const std::string& reference, Arguments more = {}) {
    write("hypothesis", hypothesis);
    write("reference", reference);
    more.insert(more.end(), {"--hypothesis", hypothesis_, "--reference", reference_});
    return run(more);
  }

  // Of two systems, with two references.
  std::string compare(Arguments more = {}) {
    write("a", "The cat is on the mat.\nHello &quot;world&quot;\nIt rains a lot today.\n");
    write("bcd", "The cat sat on the mat.\nHello \"world\"!\nToday it rains.\n");
    write("1", "The cat sat on the mat.\nHello \"world\"!\nIt is raining a lot today.\n");
    write("2", "A cat is on the mat.\nHello world!\nIt rains much today.\n");
    more.insert(more.end(), {"--hypothesis", file("a"), "--hypothesis", file("bcd"), "--reference", file("1"),
                             "--reference", file("2")});
    return run(more);
  }

  std::vector<std::string> files_;
  const std::string hypothesis_ = file("hypothesis"), reference_ = file("reference");
};

// The figures are those of sacreBLEU 2.6.0 for these lines.
TEST_F(MetricsCommand, PrintsScoresWithTheirSignatures) {
  const std::string ours = "The cat is on the mat.\nHello &quot;world&quot;\n";
  const std::string theirs = "The cat sat on the mat.\r\nHello \"world\"!";  // CRLF, and no last line feed
  EXPECT_EQ(print(ours, theirs),
            "BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.x = 57.89 90.9/77.8/57.1/40.0 "
            "(BP = 0.913 ratio = 0.917 hyp_len = 11 ref_len = 12)\n"
            "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.x = 52.58\n");
  EXPECT_EQ(print("a\nb \nc\n", "a\r\nb\nC\n", {"--metrics", "exact_match"}),
            "exact match = 66.67 (2 of 3)\n");
  EXPECT_EQ(
      print(ours, theirs, {"--format", "json", "--digits", "1", "--chrf-word-order", "2"}),
      "[\n {\n  \"name\": \"BLEU\",\n  \"score\": 57.9,\n"
      "  \"signature\": \"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.x\",\n"
      "  \"verbose_score\": \"90.9/77.8/57.1/40.0 (BP = 0.913 ratio = 0.917 hyp_len = 11 ref_len = 12)\"\n"
      " },\n {\n  \"name\": \"chrF2++\",\n  \"score\": 54.6,\n"
      "  \"signature\": \"nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.x\"\n }\n]\n");
}

// The figures are sacreBLEU's, and the p-values those of significance.h.
TEST_F(MetricsCommand, ComparesSystemsWithSeveralReferences) {
  const std::string a = "  " + file("a") + "  ", b = "  " + file("bcd");
  EXPECT_EQ(
      compare({"--metrics", "bleu,ter"}),
      "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.x\n" + a + "    80.60   baseline\n" + b +
          "    77.43    -3.17\n\nTER|nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.x, "
          "lower is "
          "better\n" +
          a + "    30.77   baseline\n" + b + "    30.77    +0.00\n\n3 sentences, 2 references of each\n");
  const auto parsed = nlohmann::json::parse(compare(
      {"--metrics", "chrf", "--format", "json", "--paired", "ar", "--samples", "999", "--digits", "4"}));
  const nlohmann::json &first = parsed.at(0), &second = parsed.at(1);
  EXPECT_EQ(first["system"], file("a"));
  EXPECT_NEAR(first["chrF2"]["score"].get<double>(), 61.97, 0.005);
  EXPECT_FALSE(first["chrF2"].contains("p_value"));
  EXPECT_NEAR(second["chrF2"]["score"].get<double>(), 78.01, 0.005);
  EXPECT_GT(second["chrF2"]["ci"].get<double>(), 0);
  EXPECT_EQ(second["chrF2"]["signature"],
            "nrefs:2|bs:1000|ar:999|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.x");
  // Of the eight ways to exchange three sentences, four make as large a difference.
  EXPECT_NEAR(second["chrF2"]["p_value"].get<double>(), 0.5, 0.05);
}

TEST_F(MetricsCommand, MarksDifferencesThatMeanSomething) {
  std::string better, worse, reference;
  for (int i = 0; i < 40; ++i) {
    reference += "line number " + std::to_string(i) + " of the text\n";
    better += "line number " + std::to_string(i) + (i % 4 == 0 ? " of a text\n" : " of the text\n");
    worse += "line of number " + std::to_string(i) + " a text\n";
  }
  write("other", better);
  const Arguments paired = {"--paired",  "bs",  "--samples",    "200",         "--seed",       "7",
                            "--metrics", "ter", "--hypothesis", file("other"), "--hypothesis", file("other")};
  const std::string table = print(worse, reference, paired);
  EXPECT_NE(table.find("TER|nrefs:1|bs:200|seed:7|case:lc|"), std::string::npos) << table;
  EXPECT_NE(table.find("p = 1.0000\n"), std::string::npos) << table;  // of a system and itself
  EXPECT_NE(table.find("p = 0.0050 *\n"), std::string::npos)
      << table;  // none of 200 samples has as large a one
  EXPECT_NE(table.find("by paired bootstrap resampling\n*: p < 0.05"), std::string::npos) << table;
  const std::string alone = print(worse, reference, {"--confidence", "--metrics", "exact_match,ter"});
  EXPECT_NE(alone.find("0.00 ± 0.00"), std::string::npos) << alone;
  EXPECT_EQ(alone.find("p = "), std::string::npos) << alone;
  EXPECT_EQ(alone.find("baseline"), std::string::npos) << alone;
}

TEST_F(MetricsCommand, TerAndTokenizersHaveTheirOptions) {
  const Arguments ter = {"--metrics", "ter", "--digits", "1"};
  const auto with = [&](const char* flag) {
    Arguments all = ter;
    if (*flag != 0) all.push_back(flag);
    return print("The cat (it) sat.\n", "the cat it , sat\n", all).substr(4);
  };
  EXPECT_EQ(with(""), "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.x = 60.0\n");
  EXPECT_EQ(with("--ter-no-punctuation"),
            "nrefs:1|case:lc|tok:tercom|norm:no|punct:no|asian:no|version:2.x = 0.0\n");
  EXPECT_EQ(with("--ter-normalized"),
            "nrefs:1|case:lc|tok:tercom|norm:yes|punct:yes|asian:no|version:2.x = 60.0\n");
  EXPECT_EQ(with("--ter-case-sensitive"),
            "nrefs:1|case:mixed|tok:tercom|norm:no|punct:yes|asian:no|version:2.x = 80.0\n");
  EXPECT_NE(print("a\n", "a\n", {"--tokenizer", "flores200"}).find("needs its SentencePiece model"),
            std::string::npos);
  EXPECT_NE(print("a\n", "a\n", {"--tokenizer-model", "x"}).find("13a takes no model"), std::string::npos);
  EXPECT_NE(print("a\n", "a\n", {"--metrics", "blue"}).find("no metric \"blue\""), std::string::npos);
  EXPECT_NE(print("a\n", "a\n", {"--paired", "bs"}).find("--paired compares systems"), std::string::npos);
  for (const char* key : {"--samples", "--seed"})
    EXPECT_NE(print("a\n", "a\n", {key, "9"}).find("has no effect without --paired"), std::string::npos);
}

TEST_F(MetricsCommand, RefusesWhatCannotBeCompared) {
  EXPECT_EQ(print("a\nb\n", "a\nb\nc\n"),
            hypothesis_ + " has 2 lines, but " + reference_ + " has 3: they must correspond line by line");
  EXPECT_EQ(print("a\nb\xff\n", "a\nb\n"),
            hypothesis_ + ":2: not valid UTF-8; iconv converts from other encodings");
  EXPECT_EQ(print("", ""), hypothesis_ + " is empty: nothing to evaluate");
  EXPECT_THROW(metrics({"--hypothesis", "x"}), UsageError);
}

}  // namespace
}  // namespace dragoman::internal
