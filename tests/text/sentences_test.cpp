#include "text/sentences.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/lines.h"

namespace dragoman::internal {
namespace {

using Parts = std::vector<std::pair<std::string, std::string>>;

Parts parts(std::string_view text) {
  Parts all;
  for (const SentencePart& part : split_sentences(text)) all.emplace_back(part.sentence, part.space);
  return all;
}

// The sentences of a text, which are also given with bars between them.
void expect_split(const std::string& language, std::string bars) {
  std::vector<std::string> expected;
  for (size_t bar = 0; bar != std::string::npos; bars = bars.substr(std::min(bar, bars.size() - 1) + 1)) {
    bar = bars.find('|');
    expected.push_back(bars.substr(0, bar));
  }
  std::vector<std::string> found;
  std::string text;
  for (const std::string& sentence : expected) text += (text.empty() ? "" : " ") + sentence;
  for (const SentencePart& part : split_sentences(text, language)) found.emplace_back(part.sentence);
  EXPECT_EQ(found, expected) << language;
}

TEST(Sentences, KeepTheWhiteSpaceBetweenThem) {
  EXPECT_EQ(parts("One.  Two?\tThree!"), (Parts{{"One.", "  "}, {"Two?", "\t"}, {"Three!", ""}}));
  EXPECT_EQ(parts("  It costs 3.50 euros. Yes. "), (Parts{{"It costs 3.50 euros.", " "}, {"Yes.", " "}}));
  EXPECT_EQ(parts("Où ça ? Là-bas !"), (Parts{{"Où ça ?", " "}, {"Là-bas !", ""}}));
  EXPECT_EQ(parts("今日は。元気ですか？"), (Parts{{"今日は。", ""}, {"元気ですか？", ""}}));
  EXPECT_EQ(parts("今日は。\u3000元気ですか？"), (Parts{{"今日は。", "\u3000"}, {"元気ですか？", ""}}));
  EXPECT_EQ(parts("\u00a0One.\u00a0 Two?"), (Parts{{"One.", "\u00a0 "}, {"Two?", ""}}));
  EXPECT_EQ(parts("no end"), (Parts{{"no end", ""}}));
  EXPECT_TRUE(parts("").empty());
  EXPECT_TRUE(parts("   ").empty());
  EXPECT_TRUE(parts(" \u00a0\u3000").empty());
}

TEST(Sentences, DoNotEndAfterAbbreviations) {
  expect_split("en", "Mr. Smith met Dr. J. R. Jones at 5 p.m. on Jan. 5.|He (i.e. Jones) left.");
  expect_split("en", "See No. 5, Fig. 3, etc.|The end.|Is the answer no.|Yes.");
  expect_split("en", "She lives in the U.S.|He lives in the U.S. Virgin Islands.|I can't.|Tom can.");
  expect_split("en_GB", "Mr. Bean.|Mrs. Bean.|They left.");
  expect_split("de",
               "Am 3. Oktober, d. h. morgen, z. B. in der Hauptstr. 5, treffen wir uns usw.|Er kommt ggf. "
               "Anfang Mai.");
  expect_split("de", "Das war 1999.|Danach kam er.|Er war 12.|Ich war 10.");
  expect_split("deu_Latn", "Vgl. Abs. 3 und S. 47.|Gut.");
  expect_split(
      "fr", "M. Dupont habite av. Foch.|Il a vu Mme. Durand, cf. p. 5, p. ex. Paris, etc.|Elle est partie.");
  expect_split("es", "El Sr. García y la Dra. López viven en EE.UU.|Están bien.|No.|Sí.");
  expect_split("", "Mr. Smith, Mme. Durand, Hr. Müller und Sig. Rossi.|Sie gingen.");
  expect_split("xx", "Prof. Smith.|He.");
}

TEST(Sentences, OfOneSpeakerGoOnInLowerCase) {
  expect_split("en", "\"What?\" he asked.|\"Why!\" – cried she.|Wait... and see.");
  expect_split("fr", "« Quoi ? » dit-il.|« Quoi ? »|Oui.");
  expect_split("", "«Почему?» – спросил он.|Да.");
  expect_split("ka", "გამარჯობა.|როგორ ხარ?");
}

TEST(Sentences, OfAListHaveTheirNumbers) { expect_split("en", "1. Introduction and overview.|It begins."); }

TEST(Sentences, EndWithTheLine) {
  EXPECT_EQ(parts("Mr.\nSmith"), (Parts{{"Mr.", "\n"}, {"Smith", ""}}));
  EXPECT_EQ(parts("What?\nnow"), (Parts{{"What?", "\n"}, {"now", ""}}));
}

// Tatoeba's sentences, joined into paragraphs, are found again.
TEST(Sentences, OfParagraphsAreFound) {
  for (const std::string language : {"en", "fr", ""}) {
    LineReader lines(std::string(DRAGOMAN_SOURCE_DIR) + "/data/tatoeba-en-fr/valid." +
                     (language.empty() ? "en" : language) + ".zst");
    int right = 0, wrong = 0, missed = 0;
    std::vector<std::string> paragraph;
    for (std::string_view line; lines.next(line);) {
      if (line.find_first_of(".?!") != line.size() - 1) continue;  // perhaps several
      paragraph.emplace_back(line);
      if (paragraph.size() < 5) continue;
      std::set<size_t> expected, found;
      std::string text;
      for (const std::string& sentence : paragraph) {
        expected.insert(text.size());
        text += sentence + " ";
      }
      for (const SentencePart& part : split_sentences(text, language))
        found.insert(static_cast<size_t>(part.sentence.data() - text.data()));
      for (const size_t at : found) ++(expected.contains(at) ? right : wrong);
      for (const size_t at : expected) missed += !found.contains(at);
      paragraph.clear();
    }
    EXPECT_GT(right, 1000);
    EXPECT_GT(2.0 * right / (2.0 * right + wrong + missed), 0.998) << language;
  }
}

}  // namespace
}  // namespace dragoman::internal
