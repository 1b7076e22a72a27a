// The lexicon of a synthetic language with a known dictionary.
#include "data/lexicon.h"

#include <gtest/gtest.h>

#include "data/corpora.h"
#include "data/prepare_corpus.h"

namespace dragoman::internal {
namespace {

class LexiconTest : public testing::Test {
 protected:
  LexiconTest() {
    DataConfig data = toy_data(folder_, text_);
    data.source.push_back(folder_.write("names.source", "Lomi\nLomi\n"));
    data.target.push_back(folder_.write("names.target", "sun Lomi\nLomi sun\n"));
    data.source.push_back(folder_.write("rest.source", "alt\nalt\nalt\nalt neu\nalt neu\n"));
    data.target.push_back(folder_.write("rest.target", "old\nold\nold\nnew old\nold new\n"));
    corpus_ = prepare_corpus(data, {.kind = PieceKind::words}, folder_.path("data"), 2);
  }

  const Vocabulary& source() const { return *corpus_.vocabularies.source; }
  const Vocabulary& target() const { return *corpus_.vocabularies.target; }
  int32_t translation_of(const std::string& word) const {
    for (const char* first : {"ka", "lo", "mi", "ter", "sun", "é", "var", "do"}) {
      if (word.starts_with(first) && word.size() > std::string(first).size())
        return target().id("▁" + word.substr(std::string(first).size()) + "o" + first);
    }
    return unknown_id;
  }
  static std::string word_of(const std::string& piece) { return piece.substr(std::string("▁").size()); }

  TemporaryFolder folder_;
  const ToyText text_ = toy_text(800);
  PreparedCorpus corpus_;
};

TEST_F(LexiconTest, FindsTheDictionary) {
  const Lexicon lexicon = learn_lexicon(corpus_, {.per_source = 3, .frequent = 5}, 2);
  ASSERT_EQ(std::ssize(lexicon.translations), source().size());
  int64_t words = 0;
  for (int32_t id = eos_id + 1; id < source().size(); ++id) {
    const int32_t expected = translation_of(word_of(source().piece(id)));
    if (expected == unknown_id) continue;
    ASSERT_FALSE(lexicon.translations[static_cast<size_t>(id)].empty());
    EXPECT_EQ(lexicon.translations[static_cast<size_t>(id)][0], expected) << source().piece(id);
    EXPECT_LE(lexicon.translations[static_cast<size_t>(id)].size(), 3U);
    ++words;
  }
  EXPECT_EQ(words, 64);
  EXPECT_EQ(lexicon.frequent.size(), 5U);
}

// "neu" co-occurs with "old" as often as with "new", but "alt" explains "old".
TEST_F(LexiconTest, DividesAWordAmongItsSources) {
  const Lexicon lexicon = learn_lexicon(corpus_, {.min_probability = 0.5}, 1);
  EXPECT_EQ(lexicon.translations[static_cast<size_t>(source().id("▁neu"))], std::vector{target().id("▁new")});
}

TEST_F(LexiconTest, ListsIdenticalWords) {
  const Lexicon lexicon = learn_lexicon(corpus_, {.per_source = 1}, 1);
  const int32_t name = source().id("▁Lomi");
  ASSERT_NE(name, unknown_id);
  EXPECT_EQ(lexicon.translations[static_cast<size_t>(name)], std::vector{target().id("▁Lomi")});
}

TEST_F(LexiconTest, DoesNotDependOnThreads) {
  const Lexicon one = learn_lexicon(corpus_, {}, 1), four = learn_lexicon(corpus_, {}, 4);
  EXPECT_EQ(one.frequent, four.frequent);
  EXPECT_EQ(one.translations, four.translations);
}

}  // namespace
}  // namespace dragoman::internal
