// What checks of a translation find, and what they leave alone.
#include "confidence/checks.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using Findings = std::vector<Finding>;

Findings found(std::string_view source, std::string_view translation) {
  return check_translation(source, translation, "en", "fr");
}

TEST(Checks, GoodTranslationsHaveNoFinding) {
  EXPECT_EQ(found("Tom has 3 cats and 12 dogs.", "Tom a trois chats et 12 chiens."), Findings{});
  EXPECT_EQ(found("I don't know.", "Je ne sais pas."), Findings{});
  EXPECT_EQ(found("He left without a word.", "Il est parti sans un mot."), Findings{});
  EXPECT_EQ(found("Cannot open %s", "Impossible d’ouvrir %s"), Findings{});
  EXPECT_EQ(found("We met in Rome.", "Nous nous sommes rencontrés à Rome."), Findings{});
  EXPECT_EQ(found("It costs 1,000.5 dollars.", "Cela coûte 1 000,5 dollars."), Findings{});
  EXPECT_EQ(found("", ""), Findings{});
}

TEST(Checks, Numbers) {
  EXPECT_EQ(found("There are 37 of them.", "Il y en a 36."),
            (Findings{{Check::numbers, false, "37"}, {Check::numbers, true, "36"}}));
  EXPECT_EQ(found("in 1987", "cette année"), (Findings{{Check::numbers, false, "1987"}}));
  EXPECT_EQ(found("We met at 3 pm.", "Nous nous sommes vus à 15 h."), Findings{});
  EXPECT_EQ(check_translation("Nous nous sommes vus à 15 h.", "We met at 3 pm.", "fr", "en"), Findings{});
}

TEST(Checks, Placeholders) {
  EXPECT_EQ(found("Open %s in %s", "Ouvrir %s"), (Findings{{Check::placeholders, false, "%s"}}));
  EXPECT_EQ(found("Hello {name}", "Bonjour {nom}"),
            (Findings{{Check::placeholders, false, "{name}"}, {Check::placeholders, true, "{nom}"}}));
}

TEST(Checks, Names) {
  EXPECT_EQ(found("I saw Tom.", "J'ai vu Jean."), (Findings{{Check::names, false, "Tom"}}));
  EXPECT_EQ(found("It needs GStreamer to play.", "Il faut un lecteur."),
            (Findings{{Check::names, false, "GStreamer"}}));
  // With another ending or accent, as a common word, or where it cannot be told from a sentence's first word.
  EXPECT_EQ(found("He lives in Mexico.", "Il habite à Mexico, au Méxique."), Findings{});
  EXPECT_EQ(found("I speak French.", "Je parle français."), Findings{});
  EXPECT_EQ(found("Yes. Tom knows.", "Oui. Jean le sait."), Findings{});
}

TEST(Checks, Negation) {
  EXPECT_EQ(found("I don't like it.", "Je l'aime."), (Findings{{Check::negation, false, "don't"}}));
  EXPECT_EQ(found("I like it.", "Je ne l'aime pas."), (Findings{{Check::negation, true, "pas"}}));
  EXPECT_EQ(found("I don’t like it.", "Je l’aime."), (Findings{{Check::negation, false, "don't"}}));
  EXPECT_EQ(check_translation("I don't like it.", "Je l'aime.", "eng_Latn", "fra_Latn"),
            (Findings{{Check::negation, false, "don't"}}));
  // Between languages whose words are not known, nothing is said.
  EXPECT_EQ(check_translation("I don't like it.", "Je l'aime.", "en", "xx"), Findings{});
  EXPECT_EQ(check_translation("I don't like it.", "Je l'aime."), Findings{});
}

TEST(Checks, Repetition) {
  EXPECT_EQ(found("What is it for?", "Pour la vie, la vie, la vie, oui."),
            (Findings{{Check::repetition, true, "la vie"}}));
  EXPECT_EQ(found("Ha ha ha! Very funny!", "Ha ha ha ha ! Très drôle !"), Findings{});
  EXPECT_EQ(found("very very good", "très très bon"), Findings{});
}

TEST(Checks, Untranslated) {
  EXPECT_EQ(found("The cat sat on the mat.", "The cat sat sur the mat."),
            (Findings{{Check::untranslated, true, ""}}));
  EXPECT_EQ(found("Los Angeles", "Los Angeles"), Findings{});
}

TEST(Checks, WrongLanguage) {
  const Finding english = {Check::wrong_language, true, "en"};
  const std::string source = "He did not want to come with us because it was cold.",
                    french = "Il n'a pas voulu venir avec nous parce qu'il faisait froid.",
                    german = "Er wollte nicht mit uns kommen, weil es kalt war.";
  EXPECT_EQ(found(source, source), (Findings{english}));
  EXPECT_EQ(found(source, "He was not with us as it was the end.").at(0), english);
  EXPECT_EQ(found(source, german).at(0), (Finding{Check::wrong_language, true, "de"}));
  EXPECT_EQ(found(source, french), Findings{});
  EXPECT_EQ(check_translation(source, german, "en", "deu_Latn"), Findings{});
  // Of a language whose words are not known, English is told apart; and nothing where no language is asked for.
  EXPECT_EQ(check_translation(french, source, "fr", "vi").at(0), english);
  EXPECT_EQ(check_translation(source, source, "en", "ja"), (Findings{english}));
  EXPECT_EQ(check_translation(french, french, "fr", "ca"), Findings{});
  EXPECT_EQ(check_translation(source, source), Findings{});
  // Too few words, or names and commands alone.
  EXPECT_EQ(found("The end of it", "The end of it"), Findings{});
  EXPECT_EQ(found("apt-get install %s -t %d [%s]", "apt-get install %s -t %d [%s]"), Findings{});
  EXPECT_EQ(found("“The Lord of the Rings” and “Gone with the Wind” came out in 2001.",
                  "« The Lord of the Rings » et « Gone with the Wind » sont sortis en 2001."),
            Findings{});
}

TEST(Checks, AreDescribed) {
  EXPECT_EQ(description_of({Check::numbers, false, "37"}), "“37” is missing");
  EXPECT_EQ(description_of({Check::negation, true, "pas"}), "“pas” is not in the source");
  EXPECT_STREQ(name_of(Check::untranslated), "untranslated");
  EXPECT_STREQ(name_of(Check::wrong_language), "wrong_language");
  EXPECT_EQ(description_of({Check::wrong_language, true, "en"}), "probably in English");
}

}  // namespace
}  // namespace dragoman::internal
