// Marks of Markdown in random translations: CommonMark's parser finds each of them again, with its content.
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/generated_markdown.h"
#include "document/in_place.h"
#include "document/markdown_marks.h"

namespace dragoman::internal {
namespace {

using MarkdownWords = std::vector<std::string>;

const MarkdownWords tame_words = {"mot", "été",     "l'un", "日本語", "注意。",
                                  "(x)", "\"dit\"", "fin.", "maison,"};
const MarkdownWords wild_words = {"mot",     "été",   "日本語", "注意。", "*", "_",  "`",   "a_b", "[a]",
                                  "!",       "**b**", "<i>",    "&amp;",  "#", "1.", "(x)", "-",   ">",
                                  "\"dit\"", "«",     "|",      "\\",     ":", "^",  "~"};

// Marks in one another, next to words, next to one another and inside words; or over hard line breaks.
class RandomInlines {
 public:
  explicit RandomInlines(uint64_t seed, bool line_breaks = false)
      : random_(seed), line_breaks_(line_breaks) {}

  std::string file() {
    std::string out;
    for (uint64_t i = 0, count = 1 + random_.below(3); i < count; ++i)
      out += (line_breaks_ ? "" : pick({"", "", "# ", "> ", "- ", "1. "})) + line(0) + "\n\n";
    return out + "[ref]: /ref\n";
  }

 private:
  std::string pick(const MarkdownWords& choices) { return choices[random_.below(choices.size())]; }

  std::string line(int depth) {
    std::string out = depth > 0 || random_.below(4) == 0 ? "" : "so ";
    for (uint64_t i = 0, count = 1 + random_.below(4); i < count; ++i)
      out += inline_of(depth) + (line_breaks_ && random_.below(4) == 0
                                     ? pick({"  \n", "\\\n"}) + pick({"so ", "so", "“so” ", "*so* "})
                                     : pick({" ", " ", " ", "", ", ", line_breaks_ ? " " : " | ", ". "}));
    return out + pick({"end", "終わり", "(end)", "end."});
  }

  std::string inline_of(int depth) {
    if (depth > 2) return pick({"word", "日本"});
    switch (random_.below(depth == 0 ? 12 : 7)) {
      case 0:
        return "*" + line(depth + 1) + "*";
      case 1:
        return "**" + line(depth + 1) + "**";
      case 2:
        return "_" + line(depth + 1) + "_";
      case 3:
        return "__" + line(depth + 1) + "__";
      case 4:
        return pick({"`code`", "`` a`b ``", "`--x`", "<kbd>Q</kbd>"});
      case 5:
        return "日**本**語";
      case 6:
        return pick({"un*believ*able", "&copy;", "\\*", "<b>bold</b>", "<http://a.b/c>"});
      case 7:
        return pick({"<!-- note -->", "<img src=\"x\"/>", "![](i.png)", "~~old~~"});
      case 8:
        return "![picture](i.png \"t\")";
      case 9:
        return "[" + pick({"link", "the **link**", "`link`"}) + "](/u)";
      case 10:
        return "[" + pick({"a _link_", "link"}) + "][ref]";
      default:
        return "[ref]";
    }
  }

  Random random_;
  bool line_breaks_;
};

TEST(MarkdownProjection, EveryMarkIsFoundAgain) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    const std::string file = RandomInlines(seed).file();
    const std::string fault =
        fault_of_random_translation(file, seed, seed % 2 == 0 ? tame_words : wild_words);
    ASSERT_EQ(fault, "") << seed;
  }
}

TEST(MarkdownProjection, EveryMarkOverALineBreakIsFoundAgain) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    const std::string file = RandomInlines(seed, /*line_breaks=*/true).file();
    const std::string fault =
        fault_of_random_translation(file, seed, seed % 2 == 0 ? tame_words : wild_words);
    ASSERT_EQ(fault, "") << seed;
  }
}

TEST(MarkdownProjection, EveryMarkOfWholeFilesIsFoundAgain) {
  for (uint32_t seed = 0; seed < 300; ++seed)
    ASSERT_EQ(fault_of_random_translation(GeneratedMarkdown(seed).tame(), seed, tame_words), "") << seed;
}

// The file with this translation of its only segment. "0-1 1-0": words of both.
std::string translated_by(const std::string& markdown, const std::string& translation,
                          const std::vector<std::pair<size_t, size_t>>& pairs) {
  const Document document = read_as("markdown", markdown);
  const DocumentSegment& segment = document.segments.at(0);
  const std::vector<TextSpan> from = words_of(segment.text), to = words_of(translation);
  std::vector<TextLink> links;
  for (const auto& [source, target] : pairs) links.push_back({from.at(source), to.at(target)});
  return document.write(std::vector{render(segment, translation, links)});
}

TEST(MarkdownProjection, AMarkWithoutWordsGoesAroundTheNearestOne) {
  EXPECT_EQ(translated_by("the **official** site", "le site", {{0, 0}, {2, 1}}), "le **site**");
  EXPECT_EQ(translated_by("the [*old*](/u) site", "le site", {{0, 0}, {2, 1}}), "le [*site*](/u)");
  EXPECT_EQ(translated_by("**the** [site](/u)", "5", {{1, 0}}), "[5](/u)");
}

TEST(MarkdownProjection, AnEmphasisOfWordsIsNotOfPunctuation) {
  const auto translated = [](const std::string& markdown, const std::string& translation, TextSpan from,
                             TextSpan to) {
    const Document document = read_as("markdown", markdown);
    const std::vector<TextLink> links = {{from, to}};
    return document.write(std::vector{render(document.segments.at(0), translation, links)});
  };
  EXPECT_EQ(translated("He **is** tall", "Il est grand.", {3, 5}, {12, 13}), "Il est **grand**.");
  EXPECT_EQ(translated("He is tall **!**", "Il est grand !", {11, 12}, {13, 14}), "Il est grand **!**");
}

TEST(MarkdownProjection, AnEmphasisTakesTheFormThatItsPlaceAllows) {
  EXPECT_EQ(translated_by("see _this_ one", "日本語中国", {{0, 0}, {1, 0}, {2, 1}}), "*日本語*中国");
  EXPECT_EQ(translated_by("**Note:** x", "注意。十", {{0, 0}, {1, 1}, {2, 2}}), "**注意**。十");
}

TEST(MarkdownProjection, ALineBreakInAnEmphasisKeepsItsPlace) {
  EXPECT_EQ(translated_by("*one  \ntwo***three**", "un deux trois", {{0, 0}, {1, 1}, {1, 2}}),
            "*un  \ndeux trois*");
  EXPECT_EQ(translated_by("> **one\\\n> two**", "deux un", {{0, 1}, {1, 0}}), "> <br>**deux un**");
}

TEST(MarkdownProjection, SpansOfCodeStayApart) {
  EXPECT_EQ(translated_by("use `--print` or `--eval`", "usage", {{0, 0}}), "usage `--print` `--eval`");
}

}  // namespace
}  // namespace dragoman::internal
