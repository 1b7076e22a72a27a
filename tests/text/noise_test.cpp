// Noise: what changes, and what must not.
#include "text/noise.h"

#include <array>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

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

std::string without_tags(const std::string& text) {
  return std::regex_replace(text, std::regex("<[^>]*>"), "");
}

// What stands between the first tag and the last.
std::string tagged_part(const std::string& text) {
  const size_t begin = text.find('>') + 1, end = text.rfind('<');
  return begin > end ? "" : text.substr(begin, end - begin);
}

TEST(Noise, AddsTheSameTagToBothSides) {
  const std::string clean_source = "On Monday, Tom ate 12 pains in Paris.",
                    clean_target = "On a vu Tom manger 12 pains à Paris lundi.";
  std::map<std::string, int> places;
  for (uint64_t key = 0; key < 900; ++key) {
    std::string source = clean_source, target = clean_target;
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_NE(source, clean_source);
    EXPECT_EQ(without_tags(source), clean_source);
    EXPECT_EQ(without_tags(target), clean_target);
    EXPECT_EQ(source.substr(source.find('<'), 3), target.substr(target.find('<'), 3));
    const std::string part = tagged_part(source);
    if (part.empty()) {
      ++places[source.ends_with('>') ? "behind" : "before"];
      EXPECT_EQ(source.ends_with('>'), target.ends_with('>'));
    } else if (part == clean_source) {
      ++places["around"];
      EXPECT_EQ(tagged_part(target), clean_target);
    } else {
      ++places[part];
      EXPECT_EQ(tagged_part(target), part);
    }
  }
  EXPECT_EQ(places.size(), 6U) << "not around On or pains, which may be other words";
  EXPECT_NEAR(places["around"], 300, 60);
  for (const char* sixth : {"before", "behind"}) EXPECT_NEAR(places[sixth], 150, 50);
  for (const char* name : {"Tom", "12", "Paris"}) EXPECT_NEAR(places[name], 100, 40) << name;
}

TEST(Noise, TagsAllReferencesAlike) {
  std::set<std::string> marked;
  for (uint64_t key = 0; key < 100; ++key) {
    std::string source = "Tom lives in Paris.";
    std::array<std::string, 2> references = {"Tom vit à Paris.", "Il vit à Paris."};
    Random random(key);
    add_tags(source, references, random);
    for (const std::string& reference : references) {
      EXPECT_EQ(source.substr(source.find('<'), 3), reference.substr(reference.find('<'), 3));
      EXPECT_EQ(tagged_part(source) == "Paris", tagged_part(reference) == "Paris");
    }
    marked.insert(tagged_part(source));
  }
  EXPECT_TRUE(marked.contains("Paris"));
  EXPECT_FALSE(marked.contains("Tom"));
}

// In quadratic time it would take minutes.
TEST(Noise, TagsALongLineAtOnce) {
  std::string line;
  for (int i = 0; i < 200'000; ++i) line += "N" + std::to_string(i) + " ";
  bool has_tagged_name = false;
  for (uint64_t key = 0; key < 6; ++key) {
    std::string source = line, target = line;
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_EQ(source, target);
    EXPECT_NE(source, line);
    has_tagged_name |= tagged_part(source).starts_with("N") && tagged_part(source).size() < 10;
  }
  EXPECT_TRUE(has_tagged_name);
}

TEST(Noise, LeavesOtherMarkupAlone) {
  for (uint64_t key = 0; key < 20; ++key) {
    std::string source = "<b>Tom</b> left.", target = "Tom est parti.";
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_EQ(source, "<b>Tom</b> left.");
    EXPECT_EQ(target, "Tom est parti.");
  }
}

TEST(Noise, KeepsTagsOutOfPlaceholders) {
  for (const std::string text : {"{0} %1$s", "{Name} www.Tom.org"}) {
    for (uint64_t key = 0; key < 60; ++key) {
      std::string source = text, target = text;
      Random random(key);
      add_tags(source, {&target, 1}, random);
      EXPECT_TRUE(source.find(text) != source.npos) << source;
    }
  }
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
