// dragoman metrics, as a user meets it.
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/error.h"

namespace dragoman::internal {
namespace {

class MetricsCommand : public testing::Test {
 protected:
  ~MetricsCommand() override {
    std::remove(hypothesis_.c_str());
    std::remove(reference_.c_str());
  }

  std::string print(const std::string& hypothesis, const std::string& reference, Arguments more = {}) {
    std::ofstream(hypothesis_) << hypothesis;
    std::ofstream(reference_) << reference;
    more.insert(more.end(), {"--hypothesis", hypothesis_, "--reference", reference_});
    testing::internal::CaptureStdout();
    try {
      metrics(more);
    } catch (const Error& error) {
      testing::internal::GetCapturedStdout();
      return error.what();
    }
    return testing::internal::GetCapturedStdout();
  }

  const std::string base_ = testing::TempDir() + "lines";
  const std::string hypothesis_ = base_ + ".hypothesis", reference_ = base_ + ".reference";
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
