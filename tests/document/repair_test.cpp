#include "document/repair.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "document/placeholders.h"

namespace dragoman::internal {
namespace {

std::vector<TextLink> in_order(const std::string& source, const std::string& target,
                               const std::vector<size_t>& words) {
  const std::vector<TextSpan> from = words_of(source), to = words_of(target);
  std::vector<TextLink> links;
  for (size_t i = 0; i < words.size(); ++i) links.push_back({from.at(words[i]), to.at(i)});
  return links;
}

std::string repaired_text(const std::string& source, const std::string& target,
                          const std::vector<size_t>& words) {
  TranslatedText translation = {target, in_order(source, target, words)};
  repair_placeholders(source, translation);
  return translation.text;
}

TEST(Repair, AWholeTranslationStays) {
  TranslatedText translation = {"{b} et {a}"};
  EXPECT_EQ(repair_placeholders("{a} and {b}", translation), 0u);
  EXPECT_EQ(translation.text, "{b} et {a}");
}

TEST(Repair, SeparatesFromAWordWhatTheSourceHasApart) {
  const auto repaired = [](const std::string& source, const std::string& target) {
    TranslatedText translation = {target};
    EXPECT_EQ(repair_placeholders(source, translation), 0u);
    return translation.text;
  };
  EXPECT_EQ(repaired("You have %d houses", "Vous avez%d maisons"), "Vous avez %d maisons");
  EXPECT_EQ(repaired("%s and %s", "les%s et les%s"), "les %s et les %s");
  EXPECT_EQ(repaired("file{n} of %d", "fichier{n} de (%d)"), "fichier{n} de (%d)");
  EXPECT_EQ(repaired("in %s", "ב%s"), "ב%s");
}

TEST(Repair, SeparatesManyInLinearTime) {
  std::string source, wanted;
  TranslatedText translation;
  for (size_t i = 0; i < 120'000; ++i) {
    source += "Value: %s. ";
    translation.text += "Valeur%s. ";
    wanted += "Valeur %s. ";
  }
  EXPECT_EQ(repair_placeholders(source, translation), 0u);
  EXPECT_TRUE(translation.text == wanted);
}

TEST(Repair, PutsBackWhatWasTranslated) {
  EXPECT_EQ(repaired_text("Hello {name}, bye", "Bonjour {nom}, salut", {0, 1, 2, 3}),
            "Bonjour {name}, salut");
  EXPECT_EQ(repaired_text("Delete %d files", "Supprimer des fichiers", {0, 1, 2}), "Supprimer %d fichiers");
}

TEST(Repair, PutsBackWhatWasLostBesideItsNeighbours) {
  EXPECT_EQ(repaired_text("Delete %d files", "Supprimer fichiers", {0, 2}), "Supprimer %d fichiers");
  EXPECT_EQ(repaired_text("{x} is open", "est ouvert", {1, 2}), "{x} est ouvert");
  EXPECT_EQ(repaired_text("Open: {x}", "Ouvrir :", {0, 1}), "Ouvrir : {x}");
}

TEST(Repair, LeavesTheEndOfASentence) {
  EXPECT_EQ(repaired_text("See {x} dogs.", "Voir chiens.", {0, 2, 1}), "Voir {x} chiens.");
  EXPECT_TRUE(repaired_text("See {x} dogs.", "见狗。", {0, 2, 1}).ends_with("。"));
}

TEST(Repair, KeepsApartWhatWasApart) {
  const auto repaired = [](const std::string& source, const std::string& target, TextSpan became) {
    TranslatedText translation = {target, {{find_placeholders(source)[0], became}}};
    repair_placeholders(source, translation);
    return translation.text;
  };
  EXPECT_EQ(repaired("See {x} dogs", "Voir chiens☺", {11, 14}), "Voir chiens {x}");
  EXPECT_EQ(repaired("See dogs{x}", "Voir chiens☺", {11, 14}), "Voir chiens{x}");
  EXPECT_EQ(repaired("See {x} dogs", "Voir ☺chiens", {5, 8}), "Voir {x} chiens");
  EXPECT_EQ(repaired("See https://x.org now", "Voir ?☺", {6, 9}), "Voir ? https://x.org");
  EXPECT_EQ(repaired("See (https://x.org)", "Voir (☺)", {6, 9}), "Voir (https://x.org)");
  EXPECT_EQ(repaired("See {x}s", "Voir ☺s", {5, 8}), "Voir {x}s");
  EXPECT_EQ(repaired("See {x} dogs", "见☺狗", {3, 6}), "见{x}狗");
}

TEST(Repair, TakesOutWhatIsThereTwice) {
  EXPECT_EQ(repaired_text("go to {x} now", "va {x} à {x} vite", {0, 0, 1, 2, 3}), "va à {x} vite");
  EXPECT_EQ(repaired_text("go {x}", "{y} va {x} {y}", {}), "va {x}");
}

TEST(Repair, EachAsOftenAsItWasWhateverTheModelWrote) {
  for (uint64_t key = 0; key < 5000; ++key) {
    Random random(key);
    const auto text = [&] {
      static const char* const parts[] = {"a", "bb", "{x}", "%s", "{y}", "%1$d", "http://x.org", ".", "ü"};
      std::string words;
      for (size_t i = 0, n = random.below(10); i < n; ++i)
        words += (i == 0 || random.below(5) == 0 ? "" : " ") + std::string(parts[random.below(9)]);
      return words;
    };
    const std::string source = text();
    TranslatedText translation = {text()};
    const std::vector<TextSpan> from = words_of(source), to = words_of(translation.text);
    for (size_t i = 0, n = random.below(12); i < n && !from.empty() && !to.empty(); ++i)
      translation.links.push_back({from[random.below(from.size())], to[random.below(to.size())]});
    const std::string before = translation.text;
    repair_placeholders(source, translation);
    SCOPED_TRACE(fmt::format("{}: {} → {} → {}", key, source, before, translation.text));
    const auto sorted = [](const std::string& of) {
      std::vector<std::string> found;
      for (const TextSpan span : find_placeholders(of))
        found.push_back(of.substr(span.begin, span.end - span.begin));
      std::ranges::sort(found);
      return found;
    };
    if (!find_placeholders(source).empty()) {
      ASSERT_EQ(sorted(source), sorted(translation.text));
    }
    for (const TextLink& link : translation.links) ASSERT_LE(link.target.end, translation.text.size());
  }
}

}  // namespace
}  // namespace dragoman::internal
