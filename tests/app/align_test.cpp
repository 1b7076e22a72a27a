// dragoman align, as a user meets it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
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

TEST_F(AlignCommand, RefusesWhatDoesNotCorrespond) {
  EXPECT_NE(print(english_, "Le chat dort.\n").find("lines.fr"), std::string::npos);
  EXPECT_EQ(print("", ""), "");
  EXPECT_THROW(align({"--source", "only.en"}), UsageError);
}

}  // namespace
}  // namespace dragoman::internal
