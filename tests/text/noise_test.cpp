// Noise: what changes, and what must not.
#include "text/noise.h"

#include <set>

#include <gtest/gtest.h>

#include "text/tagged_text.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

TEST(Noise, CaseFollowsTheLanguageAndLeavesMarkupAlone) {
  EXPECT_EQ(upper_cased("l'été à Genève"), "L'ÉTÉ À GENÈVE");
  EXPECT_EQ(upper_cased("istanbul", "tr"), "İSTANBUL");
  EXPECT_EQ(upper_cased("istanbul", "en"), "ISTANBUL");
  EXPECT_EQ(upper_cased("die Straße", "de"), "DIE STRASSE");
  EXPECT_EQ(upper_cased("see {name}  at %s, <b> or a@b.org"), "SEE {name}  AT %s, <b> OR a@b.org");
  EXPECT_EQ(title_cased("l'été  du NATO-chief, \"ja\""), "L'été  Du NATO-chief, \"Ja\"");
}

TEST(Noise, MisspellsWordsWithoutMovingThem) {
  const std::string text = "The quick brown fox, jumps over {lazy} dogs at 12:30.";
  int differ = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    Random one(key), other(key);
    const std::string changed = misspelt(text, one);
    EXPECT_EQ(changed, misspelt(text, other));
    EXPECT_NE(changed, text);
    EXPECT_EQ(word_count(changed), word_count(text));
    EXPECT_NE(changed.find("{lazy}"), changed.npos);
    EXPECT_NE(changed.find("at 12:30."), changed.npos);
    Random none(key + 1000);
    differ += changed != misspelt(text, none);
  }
  EXPECT_GT(differ, 150);
  Random random(1);
  EXPECT_EQ(misspelt("I do it", random), "I do it");
}

TEST(Noise, TakesTheFinalMarkAway) {
  EXPECT_EQ(without_final_punctuation("Quoi ?"), "Quoi");
  EXPECT_EQ(without_final_punctuation("Well... "), "Well");
  EXPECT_EQ(without_final_punctuation("你好。"), "你好");
  EXPECT_EQ(without_final_punctuation("no mark"), "no mark");
  EXPECT_EQ(without_final_punctuation("!"), "!");
}

TEST(Noise, IsAFunctionOfThePairsNumberAndKeepsItsShares) {
  const NoiseShares shares = {.upper = 0.1, .title = 0.2, .typos = 0.3, .punctuation = 0.4, .tags = 0.5};
  int upper = 0, target_changed = 0, bare = 0, tagged = 0;
  for (uint64_t pair = 0; pair < 2000; ++pair) {
    std::string source = "Some words here.", target = "Quelques mots ici.";
    add_noise(shares, pair, "en", "fr", source, target);
    std::string again = "Some words here.", target_again = "Quelques mots ici.";
    add_noise(shares, pair, "en", "fr", again, target_again);
    EXPECT_EQ(source, again);
    EXPECT_EQ(source.find('<') == source.npos, target.find('<') == target.npos);
    if (source.find('<') != source.npos) {
      ++tagged;
      source = without_tags(source);
      target = without_tags(target);
      EXPECT_TRUE(target.starts_with("Quelques mots")) << "a word in another case may look like a name";
    }
    upper += target.starts_with("QUELQUES");
    target_changed += target != "Quelques mots ici.";
    bare += !target.ends_with(".");
    EXPECT_EQ(source.ends_with("."), target.ends_with("."));
  }
  EXPECT_NEAR(upper, 200, 60);
  EXPECT_NEAR(bare, 800, 100);
  EXPECT_NEAR(tagged, 700, 100);
  EXPECT_LT(target_changed, 1500);
  std::string source = "a.", target = "b.";
  EXPECT_FALSE(add_noise({}, 1, "", "", source, target));
}

}  // namespace
}  // namespace dragoman::internal
