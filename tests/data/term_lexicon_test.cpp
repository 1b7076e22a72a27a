#include "data/term_lexicon.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

struct Found {
  std::string source, target;
  bool operator==(const Found&) const = default;
};

class TermLexiconTest : public testing::Test {
 protected:
  TermLexicon lexicon(const std::string& lines) { return TermLexicon(folder.write("terms.tsv", lines)); }

  std::string error_of(const std::string& lines) {
    try {
      lexicon(lines);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder folder;
};

std::vector<Found> found(const TermLexicon& lexicon, std::string_view source, std::string_view target) {
  std::vector<Found> all;
  for (const TermInText& term : lexicon.terms_of(source, target))
    all.push_back(
        {std::string(source.substr(term.source.begin, term.source.end - term.source.begin)), term.target});
  return all;
}

TEST_F(TermLexiconTest, FindsTheLongestTermsThatTheTranslationHas) {
  const TermLexicon terms = lexicon(
      "# a comment\n\ndog\tchien | chienne\thidden\nHot Dog\thot-dog\r\nchildren\tenfants\nold\tvieux\n");
  EXPECT_EQ(terms.size(), 4u);
  EXPECT_EQ(found(terms, "The DOG, a hot dog!", "Le chien, un hot-dog !"),
            (std::vector<Found>{{"DOG", "chien"}, {"hot dog", "hot-dog"}}));
  EXPECT_EQ(found(terms, "A hot dog.", "Une chienne chaude."), (std::vector<Found>{{"dog", "chienne"}}));
  EXPECT_EQ(found(terms, "Two dogs.", "Deux chiens."), (std::vector<Found>{}));
  EXPECT_EQ(found(terms, "A dog", "Un chat"), (std::vector<Found>{}));
}

TEST_F(TermLexiconTest, TakesFormsOfOneStem) {
  const TermLexicon terms = lexicon("dog\tHund\nbig\tgroß\nthe\tder\nold man\talter Mann\n");
  EXPECT_EQ(found(terms, "The dog and the old man", "Des Hundes und des alten Mannes"),
            (std::vector<Found>{{"dog", "Hund"}, {"old man", "alter Mann"}}));
  EXPECT_EQ(found(terms, "a big dog", "ein großer Hundefänger"), (std::vector<Found>{{"big", "groß"}}));
}

TEST_F(TermLexiconTest, NamesTheLineThatIsWrong) {
  EXPECT_NE(error_of("a\tb\nc d\n").find("terms.tsv:2: a term is source, tab, target"), std::string::npos);
  EXPECT_NE(error_of("...\tb\n").find("terms.tsv:1: a term must have 1 to 5 words"), std::string::npos);
  EXPECT_NE(error_of("a\t | \n").find("terms.tsv:1: the term has no target"), std::string::npos);
  EXPECT_NE(error_of("# nothing\n").find("has no terms"), std::string::npos);
}

TEST_F(TermLexiconTest, ChoosesAShareOfThePairsAndAFewOfTheirTerms) {
  const TermLexicon terms = lexicon("one\tun\ntwo\tdeux\nthree\ttrois\nfour\tquatre\nfive\tcinq\n");
  const std::string source = "one two three four five", target = "un deux trois quatre cinq";
  size_t chosen = 0;
  std::vector<size_t> counts(4);
  for (uint64_t pair = 0; pair < 3000; ++pair) {
    const auto of_pair = chosen_terms(terms, 0.3, pair, source, target);
    ASSERT_LE(of_pair.size(), 3u);
    ++counts[of_pair.size()];
    chosen += !of_pair.empty();
  }
  EXPECT_NEAR(static_cast<double>(chosen), 900, 80);
  for (size_t terms_of_pair = 1; terms_of_pair <= 3; ++terms_of_pair) EXPECT_GT(counts[terms_of_pair], 200u);
  EXPECT_TRUE(chosen_terms(terms, 0, 1, source, target).empty());
}

}  // namespace
}  // namespace dragoman::internal
