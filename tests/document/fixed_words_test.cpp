// Words that come out as the file has them: code in a sentence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/projection.h"

namespace dragoman::internal {
namespace {

const std::string code = "<code>ls -l</code>";

// "a see ls -l b", the second to the fourth word in a link.
const DocumentSegment two_words = {
    .text = "a see ls -l b",
    .original = "a <a>see <code>ls -l</code></a> b",
    .marks = {{.place = {2, 11}, .open = "<a>", .close = "</a>"},
              {.kind = DocumentMark::Kind::fixed, .place = {6, 11}, .depth = 1, .open = code}}};

std::string translated(const std::string& translation) { return render(two_words, translation, {}); }

TEST(FixedWords, ComeOutAsTheFileHasThem) {
  EXPECT_EQ(translated("a see ls -l b"), two_words.original);
  EXPECT_EQ(translated("x siehe ls -l y"), "x <a>siehe <code>ls -l</code></a> y");
}

TEST(FixedWords, ThatAreLostArePutBackBetweenSpaces) {
  const DocumentSegment plain = {
      .text = "use ls now",
      .original = "use `ls` now",
      .marks = {{.kind = DocumentMark::Kind::fixed, .place = {4, 6}, .open = "`ls`"}}};
  EXPECT_EQ(render(plain, "nutze jetzt", {}), "nutze `ls` jetzt");
  EXPECT_EQ(render(plain, "lsa lsb", {}), "lsa `ls` lsb");
}

TEST(FixedWords, ComeOutOnceInsideTheirSpanWhateverTheTranslationIs) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string translation;
    for (uint64_t word = 0; word <= random.below(7); ++word) {
      constexpr const char* words[] = {"ls -l", "ls", "x", "yes", "-l", "."};
      translation += fmt::format("{}{}", word == 0 ? "" : " ", words[random.below(6)]);
    }
    const std::string result = translated(translation);
    const size_t open = result.find("<a>"), close = result.find("</a>"), at = result.find(code);
    ASSERT_NE(at, std::string::npos) << translation;
    ASSERT_EQ(result.find(code, at + 1), std::string::npos) << translation;
    ASSERT_TRUE(open < at && at < close) << translation << " | " << result;
  }
}

}  // namespace
}  // namespace dragoman::internal
