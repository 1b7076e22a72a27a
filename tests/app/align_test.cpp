// dragoman align, as a user meets it.
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

  TemporaryFolder folder_;
  const std::string english_ = "The cat sleeps.\nthe dog sleeps.\n\nThe cat eats!\nthe dog barks!\n";
  const std::string french_ = "Le chat dort.\nle chien dort.\nrien\nLe chat mange!\nle chien aboie!\n";
};

TEST_F(AlignCommand, PrintsALineForEachLine) {
  const std::string all = "0-0 1-1 2-2 3-3\n";
  EXPECT_EQ(print(english_, french_), all + all + "\n" + all + all);
}

TEST_F(AlignCommand, WordsEndAtWhiteSpaceInTokens) {
  const std::string all = "0-0 1-1 2-2\n";
  EXPECT_EQ(print(english_, french_, {"--tokens", "--symmetrize", "intersection"}),
            all + all + "\n" + all + all);
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
