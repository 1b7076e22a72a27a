// dragoman align, as a user meets it.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
#include "app/translating_commands.h"
#include "base/error.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class AlignCommand : public testing::Test {
 protected:
  std::string print(const std::string& source, const std::string& target, Arguments more = {}) {
    more.insert(more.end(), {"--source", folder_.write("lines.en", source), "--target",
                             folder_.write("lines.fr", target), "--threads", "1"});
    testing::internal::CaptureStdout();
    try {
      align(more);
    } catch (const Error& error) {
      testing::internal::GetCapturedStdout();
      return error.what();
    }
    return testing::internal::GetCapturedStdout();
  }

  // Each noun with each verb, and a line without a counterpart at the end.
  static std::string lines(const char* article, std::initializer_list<const char*> nouns,
                           std::initializer_list<const char*> verbs, const char* last) {
    std::string text;
    for (const char* noun : nouns)
      for (const char* verb : verbs) text += fmt::format("{} {} {}.\n", article, noun, verb);
    return text + last + "\n";
  }
  static constexpr int pairs = 36;

  TemporaryFolder folder_;
  const std::string english_ = lines("The", {"cat", "dog", "child", "king", "horse", "bird"},
                                     {"sleeps", "eats", "runs", "sings", "laughs", "falls"}, "");
  const std::string french_ = lines("Le", {"chat", "chien", "petit", "roi", "cheval", "merle"},
                                    {"dort", "mange", "court", "chante", "rit", "tombe"}, "rien");
};

std::string repeated(const std::string& line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}

TEST_F(AlignCommand, PrintsALineForEachLine) {
  EXPECT_EQ(print(english_, french_), repeated("0-0 1-1 2-2 3-3\n", pairs) + "\n");
}

TEST_F(AlignCommand, WordsEndAtWhiteSpaceInTokens) {
  EXPECT_EQ(print(english_, french_, {"--tokens", "--symmetrize", "intersection"}),
            repeated("0-0 1-1 2-2\n", pairs) + "\n");
}

TEST_F(AlignCommand, PrintsWordsAsJson) {
  EXPECT_TRUE(print(english_, french_, {"--format", "json"})
                  .starts_with(R"({"links":[[0,0],[1,1],[2,2],[3,3]],"source":["The","cat","sleeps","."],)"
                               R"("target":["Le","chat","dort","."]})"));
}

// A line without a tab keeps its place.
TEST_F(AlignCommand, ReadsColumns) {
  std::string columns = "no tab\n";
  for (size_t e = 0, f = 0; e < english_.size() - 1;
       e = english_.find('\n', e) + 1, f = french_.find('\n', f) + 1)
    columns += english_.substr(e, english_.find('\n', e) - e) + "\t" +
               french_.substr(f, french_.find('\n', f) - f) + "\tmore\n";
  testing::internal::CaptureStdout();
  align({"--tsv", folder_.write("lines.tsv", columns), "--threads", "1"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\n" + repeated("0-0 1-1 2-2 3-3\n", pairs));
  EXPECT_THROW(align({"--tsv", folder_.path("lines.tsv"), "--source", "a", "--target", "b"}), UsageError);
}

TEST_F(AlignCommand, RefusesOptionsWithoutEffect) {
  EXPECT_THROW(align({"--tsv", "a", "--model", "b", "--tokens"}), UsageError);
  EXPECT_THROW(align({"--tsv", "a", "--alignment-layer", "1"}), UsageError);
  EXPECT_THROW(align({"--tsv", "a", "--device", "cpu"}), UsageError);
  EXPECT_THROW(align({"--tsv", "a", "--precision", "fp32"}), UsageError);
}

TEST_F(AlignCommand, RefusesWhatDoesNotCorrespond) {
  EXPECT_NE(print(english_, "Le chat dort.\n").find("lines.fr"), std::string::npos);
  EXPECT_EQ(print("", ""), "");
  EXPECT_THROW(align({"--source", "only.en"}), UsageError);
}

using AlignByModel = TranslatingCommands;

TEST_F(AlignByModel, PrintsTheLinksOfScore) {
  const std::string files = "--model " + folder_.path + " --source " + write("source", "a b c\n\nc a\n") +
                            " --target " + write("target", "b a c a\n\na\n");
  std::string expected;
  for (const std::string& line : lines_of(run("score --alignment " + files)))
    expected += line.substr(std::min(line.size(), line.find("||| ") + 4)) + "\n";
  const std::string links = run("align " + files);
  EXPECT_EQ(links, expected);
  EXPECT_EQ(lines_of(links).size(), 3U);
  EXPECT_NE(links.find('-'), std::string::npos);
  EXPECT_EQ(run("align --model " + folder_.path + " --tsv -", "a b c\tb a c a\n\t\nc a\ta\n"), links);
}

}  // namespace
}  // namespace dragoman::internal
