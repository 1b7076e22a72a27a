// Glossaries: what is found in texts, against a search that tries every entry at every place; their files, and what is
// wrong with them.
#include "document/glossary.h"

#include <unistd.h>

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "document/glossary/tbx.h"
#include "temporary_folder.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using GlossaryEntries = std::vector<GlossaryEntry>;
using Strings = std::vector<std::string>;

std::string found_in(const std::string& text, const GlossaryEntries& entries) {
  std::string all;
  const std::u32string points = code_points(text);
  for (const GlossaryMatch& match : Glossary(entries).find(text)) {
    all += all.empty() ? "" : "; ";
    for (size_t i = match.source.begin; i < match.source.end; ++i) all += to_utf8(points[i]);
    const char* between = "=";
    for (const std::string& target : match.targets) all += std::exchange(between, "|") + target;
  }
  return all;
}

TEST(Glossary, FindsWholeWordsTheLongestFirst) {
  const GlossaryEntries entries = {
      {{"cat", "cats"}, {"Katze"}}, {{"black cat"}, {"Panther"}}, {{"e"}, {"E"}}};
  EXPECT_EQ(found_in("a cat, two cats; concat cat's black  cats", entries),
            "cat=Katze; cats=Katze; cat=Katze; cats=Katze");
  EXPECT_EQ(found_in("one black\u00a0cat_ black\tcat", entries), "black\tcat=Panther");
  EXPECT_EQ(found_in("e-mail é e\u0301 e", entries), "e=E; e=E");
}

TEST(Glossary, InScriptsWithoutSpacesFindsTermsAnywhere) {
  EXPECT_EQ(found_in("我喜欢小猫和GPU卡", {{{"小猫"}, {"kitten"}}, {{"GPU"}, {}}}), "小猫=kitten; GPU=GPU");
  EXPECT_EQ(found_in("고양이는 고양", {{{"고양이"}, {"cat"}}}), "고양이=cat");
  EXPECT_EQ(found_in("แมวดำ", {{{"แมว"}, {"cat"}}}), "แมว=cat");
}

TEST(Glossary, ACapitalWhereASentenceBeginsIsGivenToTheTargetToo) {
  const GlossaryEntries entries = {{{"cat"}, {"chat", "matou"}}, {{"Bank"}, {"banque"}}};
  EXPECT_EQ(found_in("Cat. \"Cat Cat", entries), "Cat=Chat|Matou|chat|matou; Cat=Chat|Matou|chat|matou");
  EXPECT_EQ(found_in("cat Bank bank", entries), "cat=chat|matou; Bank=banque");
  EXPECT_EQ(found_in("Bank.", entries), "Bank=banque|Banque");
  const auto exact = GlossaryEntry::Case::exact, any = GlossaryEntry::Case::any;
  EXPECT_EQ(found_in("Cat cat CAT", {{{"cat"}, {"chat"}, exact}}), "cat=chat");
  EXPECT_EQ(found_in("the Cat cat CAT", {{{"cat"}, {"chat"}, any}}), "Cat=chat; cat=chat; CAT=chat");
  EXPECT_EQ(found_in("CAT. Cat", {{{"cat"}, {"chat"}, any}}), "CAT=Chat|chat; Cat=Chat|chat");
  EXPECT_EQ(found_in("CAT", {{{"Cat"}, {"chat"}, any}}), "CAT=chat|Chat");
}

// Which matches only as written.
TEST(Glossary, AnExactEntryHidesNoOtherWhereASentenceBegins) {
  const auto exact = GlossaryEntry::Case::exact;
  EXPECT_EQ(found_in("Kern panik", {{{"kern"}, {"Kernel"}}, {{"kern panik"}, {"oops"}, exact}}),
            "Kern=Kernel");
  EXPECT_EQ(found_in("Cat", {{{"cat"}, {"CAT"}, exact}, {{"cat"}, {"chat"}}}), "Cat=Chat|chat");
}

TEST(Glossary, EqualSourcesHaveTheTargetsOfAllTheirEntries) {
  EXPECT_EQ(found_in("a bank's", {{{"bank"}, {"Bank"}}, {{"bank", "banks"}, {"Ufer", "Bank"}}}),
            "bank=Bank|Ufer");
}

TEST(Glossary, WhatIsKeptStandsAsInTheText) {
  EXPECT_EQ(found_in("use don’t\u00a0stop", {{{"don't stop"}, {}}}), "don’t\u00a0stop=don’t stop");
  const std::string far = "New" + std::string(600, ' ') + "York";
  EXPECT_EQ(found_in("in " + far, {{{"New York"}, {}}}), far + "=New York");
}

// The same by trying every entry at every place, for texts of few letters.
TEST(Glossary, FindsWhatASearchOfEveryPlaceFinds) {
  Random random(3);
  const auto text_of = [&](size_t length) {
    std::string text;
    for (size_t i = 0; i < length; ++i) text += "ab c"[random.below(4)];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    GlossaryEntries entries;
    for (size_t i = 0; i < 6; ++i) {
      const std::string term = checked_term(text_of(1 + random.below(5)), "", 0);
      if (!term.empty()) entries.push_back({{term}, {std::to_string(i)}, GlossaryEntry::Case::exact});
    }
    const std::string text = checked_term(text_of(40), "", 0);
    const auto is_word = [&](size_t i) { return i < text.size() && text[i] != ' '; };
    std::vector<TextSpan> wanted;
    for (size_t i = 0; i < text.size();) {
      size_t best = 0;
      for (const GlossaryEntry& entry : entries) {
        const std::string& term = entry.sources[0];
        const bool begins = i == 0 || !is_word(i - 1), ends = !is_word(i + term.size());
        if (begins && ends && text.compare(i, term.size(), term) == 0) best = std::max(best, term.size());
      }
      if (best > 0) wanted.push_back({i, i + best});
      i += std::max<size_t>(best, 1);
    }
    std::vector<TextSpan> found;
    for (const GlossaryMatch& match : Glossary(entries).find(text)) found.push_back(match.source);
    EXPECT_EQ(found, wanted) << text;
  }
}

class GlossaryFile : public testing::Test {
 protected:
  GlossaryEntries read(const std::string& contents, const GlossaryLanguages& languages = {}) {
    write_file(path_, {contents});
    return read_glossary(path_, languages);
  }
  std::string refusal(const std::string& contents, const GlossaryLanguages& languages = {}) {
    try {
      read(contents, languages);
    } catch (const Error& error) {
      const std::string message = error.what();
      return message.starts_with(path_) ? message.substr(path_.size()) : message;
    }
    return "";
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("glossary");
};

TEST_F(GlossaryFile, OfTabsHasAnEntryALine) {
  const auto any = GlossaryEntry::Case::any, exact = GlossaryEntry::Case::exact;
  const GlossaryEntries wanted = {{{"Hund", "Hunde"}, {"dog", "dogs"}},
                                  {{"New York"}, {}},
                                  {{"#1"}, {"a|b"}, any},
                                  {{"x"}, {"y"}, exact}};
  EXPECT_EQ(read("\uFEFFSource\tTARGET\tflags\r\n# comment\n\nHund | Hunde\t dog|dogs \r\nNew \u00a0York\t=\n"
                 "\\#1\ta\\|b\tany-case\nx\ty\t exact-case,\n"),
            wanted);
  EXPECT_EQ(read("source\ttarget").size(), 0U);
  EXPECT_EQ(read("a\tb\nsource\ttarget").size(), 2U);
}

// From which nothing can be read twice.
TEST_F(GlossaryFile, OfTabsMayBeAPipe) {
  constexpr std::string_view contents = "Hund\tdog\n";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], contents.data(), contents.size()), std::ssize(contents));
  ::close(ends[1]);
  EXPECT_EQ(read_glossary("/dev/fd/" + std::to_string(ends[0]), {}), (GlossaryEntries{{{"Hund"}, {"dog"}}}));
  ::close(ends[0]);
}

TEST_F(GlossaryFile, OfTabsIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("a\tb\nword\n"),
            ":2: needs a source, a tab and a target, and optionally a tab and flags");
  EXPECT_EQ(refusal("a\tb\tc\td\n"),
            ":1: needs a source, a tab and a target, and optionally a tab and flags");
  EXPECT_EQ(refusal("\tb\n"), ":1: has an empty source: write a term before the tab, or remove the line");
  EXPECT_EQ(refusal("a\t\n"), ":1: has an empty target: write = for a term that stays as it is");
  EXPECT_EQ(refusal("a\tb||c\n"), ":1: has an empty target: write = for a term that stays as it is");
  EXPECT_EQ(refusal("a\tb\tcase\n"), ":1: has the unknown flag \"case\": use any-case or exact-case");
  EXPECT_EQ(refusal("a\t\xff\n"), ":1: is not valid UTF-8: save the file as UTF-8");
  EXPECT_EQ(refusal(std::string(501, 'a') + "\tb\n"), ":1: has a term of 501 characters, the limit is 500");
}

const std::string martif = R"(<?xml version="1.0"?><!DOCTYPE martif SYSTEM "TBXcoreStructV02.dtd">
<martif type="TBX"><martifHeader><fileDesc><sourceDesc><p>x</p></sourceDesc></fileDesc></martifHeader><text><body>
<termEntry id="1"><descrip type="subjectField">animals</descrip>
 <langSet xml:lang="en-GB"><tig><term> big
  cat</term></tig><tig><term>moggy</term><termNote type="partOfSpeech">noun</termNote></tig></langSet>
 <langSet xml:lang="de"><ntig><termGrp><term>Mieze</term></termGrp></ntig>
  <tig><term>Kater &amp; <hi>Co</hi></term><termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></tig>
  <tig><term>Katz</term><termNote type="administrativeStatus">deprecatedTerm-admn-sts</termNote></tig></langSet>
 </termEntry>
<termEntry><langSet xml:lang="de"><tig><term>nur</term></tig></langSet></termEntry>
</body></text></martif>)";

TEST_F(GlossaryFile, OfTbx2HasAnEntryAConcept) {
  const GlossaryEntries wanted = {{{"big cat", "moggy"}, {"Kater & Co", "Mieze"}}};
  EXPECT_EQ(read(martif), wanted);
  EXPECT_EQ(read(martif, {"en", "deu_Latn"}), wanted);
  EXPECT_EQ(read(martif, {"de", "EN_gb"})[0].targets, wanted[0].sources);
  EXPECT_NE(refusal(martif, {"en-US", "de"}), "");
  EXPECT_NE(refusal(martif, {"en", "fr"}), "");
}

TEST_F(GlossaryFile, OfTbx3InBothStyles) {
  const std::string file =
      R"(<tbx style="dct" type="TBX-Min" xmlns="urn:iso:std:iso:30042:ed-2" xmlns:min="http://x">
<text><body><conceptEntry id="c"><langSec xml:lang="en"><termSec><term>dog</term></termSec></langSec>
<langSec xml:lang="fr"><termSec><term>clebs</term>
<min:administrativeStatus>supersededTerm-admn-sts</min:administrativeStatus></termSec>
<termSec><term>chien</term><termNote type="administrativeStatus">admittedTerm-admn-sts</termNote></termSec></langSec>
</conceptEntry></body></text></tbx>)";
  EXPECT_EQ(read(file, {"en", "fr"}), (GlossaryEntries{{{"dog"}, {"chien"}}}));
}

TEST_F(GlossaryFile, OfTbxIsRefusedWithItsLine) {
  EXPECT_NE(refusal(martif.substr(0, 400)).find(": invalid XML: "), std::string::npos);
  EXPECT_EQ(refusal("<?xml version='1.0'?>\n<html/>"), ":2: is neither TBX nor tab-separated text");
  EXPECT_EQ(refusal("<?xml version='1.0'?><!DOCTYPE tbx [<!ENTITY e \"word\">]>\n<tbx><conceptEntry><langSec "
                    "xml:lang='en'><termSec><term>&e;</term></termSec></langSec></conceptEntry></tbx>"),
            ":2: refers to an entity: write the character itself");
  std::string three = martif;
  three.insert(three.find("<termEntry>"),
               "<termEntry><langSet xml:lang=\"fr\"><tig><term>a</term></tig></langSet></termEntry>\n");
  EXPECT_NE(refusal(three).find("has a third language, fr, beside en and de"), std::string::npos);
}

TEST(Tbx, LanguagesMatchByTheirVariety) {
  EXPECT_TRUE(is_language("en-GB", "en") && is_language("EN_gb", "en-GB") && is_language("en", "eng_Latn") &&
              is_language("zh-Hans", "zho_Hans") && is_language("de", "deu"));
  EXPECT_FALSE(is_language("en", "en-GB") || is_language("en-US", "en-GB") || is_language("en", "") ||
               is_language("", "en") || is_language("nl", "en"));
}

}  // namespace
}  // namespace dragoman::internal
