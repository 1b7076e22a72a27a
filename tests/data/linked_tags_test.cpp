// Tags around words that translate each other.
#include "data/linked_tags.h"

#include <algorithm>
#include <memory>
#include <set>

#include <gtest/gtest.h>

#include "data/corpora.h"
#include "data/links.h"
#include "data/pair_loader.h"
#include "text/tagged_text.h"
#include "text/tags.h"

namespace dragoman::internal {
namespace {

// Of toy text, of which some has tags.
Vocabularies vocabularies_with_tags(const std::vector<std::string>& further = {}) {
  const ToyText text = toy_text(300);
  std::vector<std::string> lines = further;
  lines.insert(lines.end(), 20, "kalo {0}.");
  for (size_t i = 0; i < text.source_lines.size(); ++i) {
    std::string source = text.source_lines[i], target = text.target_lines[i];
    Random random(i);
    if (i % 3 == 0) add_tags(source, {&target, 1}, random);
    lines.insert(lines.end(), {source, target});
  }
  const auto open = [&lines] {
    return [&lines, next = size_t{0}]() mutable -> std::optional<std::string_view> {
      if (next == lines.size()) return std::nullopt;
      return lines[next++];
    };
  };
  const auto both = std::make_shared<const Vocabulary>(learn_vocabulary({.size = 100}, open, "shared"));
  return {both, both};
}

// Where words begin, of pieces that spell a text.
std::vector<size_t> words_of_pieces(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  std::vector<size_t> words;
  for (const int32_t id : ids)
    words.push_back(words.empty() ? 0 : words.back() + (vocabulary.piece(id).starts_with("▁") ? 1 : 0));
  return words;
}

// A pair whose n-th words translate each other.
LinkedPair pair_of(const Vocabulary& vocabulary, const std::string& source, const std::string& target) {
  LinkedPair pair = {.source = vocabulary.encode(source), .target = vocabulary.encode(target), .links = {}};
  const auto of_source = words_of_pieces(vocabulary, pair.source),
             of_target = words_of_pieces(vocabulary, pair.target);
  for (size_t t = 0; t < of_target.size(); ++t)
    for (size_t s = 0; s < of_source.size(); ++s)
      if (of_source[s] == of_target[t])
        pair.links.push_back({.source = static_cast<int32_t>(s), .target = static_cast<int32_t>(t)});
  return pair;
}

size_t spaces(const std::string& text) { return static_cast<size_t>(std::ranges::count(text, ' ')); }

class LinkedTagsTest : public testing::Test {
 protected:
  const Vocabularies vocabularies_ = vocabularies_with_tags();
  const Vocabulary& vocabulary_ = *vocabularies_.source;
  const ToyText text_ = toy_text(40, 8, 2);
};

TEST_F(LinkedTagsTest, StandAroundTheSameWords) {
  std::set<size_t> lengths;
  int inside = 0;
  for (size_t i = 0; i < 400; ++i) {
    const std::string &source = text_.source_lines[i % 40], &target = text_.target_lines[i % 40];
    LinkedPair pair = pair_of(vocabulary_, source + ".", target + ".");
    Random random(i);
    add_linked_tags(vocabularies_, 1000, random, pair);
    const std::string tagged_source = vocabulary_.decode(pair.source),
                      tagged_target = vocabulary_.decode(pair.target);
    EXPECT_NE(tagged_source, source + ".");
    EXPECT_EQ(without_tags(tagged_source), source + ".");
    EXPECT_EQ(without_tags(tagged_target), target + ".");
    EXPECT_EQ(tagged_source.substr(tagged_source.find('<'), 3),
              tagged_target.substr(tagged_target.find('<'), 3));
    const std::string part = tagged_part(tagged_source), its_translation = tagged_part(tagged_target);
    EXPECT_EQ(spaces(part), spaces(its_translation)) << tagged_source << " | " << tagged_target;
    EXPECT_EQ(spaces(tagged_source.substr(0, tagged_source.find('>'))),
              spaces(tagged_target.substr(0, tagged_target.find('>'))));
    if (part.empty() || part.ends_with('.')) continue;
    ++inside;
    lengths.insert(spaces(part) + 1);
  }
  EXPECT_NEAR(inside, 133, 40);
  EXPECT_EQ(lengths, (std::set<size_t>{1, 2, 3}));
}

// Without tags the links are those of before, and a tag's pieces are linked to each other.
TEST_F(LinkedTagsTest, MoveLinksWithTheirWords) {
  for (size_t i = 0; i < 200; ++i) {
    const LinkedPair plain = pair_of(vocabulary_, text_.source_lines[i % 40], text_.target_lines[i % 40]);
    LinkedPair pair = plain;
    Random random(i);
    add_linked_tags(vocabularies_, 1000, random, pair);
    EXPECT_TRUE(std::ranges::is_sorted(pair.links, {}, by_target));
    const TextOfPieces source = vocabulary_.decode_with_spans(pair.source),
                       target = vocabulary_.decode_with_spans(pair.target);
    // The word that a piece is in; −1: a tag.
    const auto word_of = [](const TextOfPieces& text, int32_t piece) {
      const size_t at = text.spans[static_cast<size_t>(piece)].end - 1;
      const std::string before = text.text.substr(0, at + 1);
      const bool in_tag = text.text[at] == '>' || before.rfind('<') + 1 > before.rfind('>') + 1;
      return in_tag ? -1 : static_cast<int>(spaces(without_tags(before)));
    };
    std::set<std::pair<int32_t, int32_t>> linked;
    for (const Link& link : pair.links) {
      EXPECT_EQ(word_of(source, link.source), word_of(target, link.target))
          << source.text << " | " << target.text << ", " << link.source << "-" << link.target;
      EXPECT_TRUE(linked.insert({link.source, link.target}).second) << "twice";
    }
    for (int32_t piece = 0; piece < std::ssize(pair.target); ++piece)
      EXPECT_TRUE(std::ranges::any_of(pair.links, [&](const Link& link) { return link.target == piece; }))
          << target.text << ", " << piece;
  }
}

TEST_F(LinkedTagsTest, StandBetweenCharactersWhereWordsAreNotSpaced) {
  const std::vector<std::string> lines(20, "我爱你们大家");
  const Vocabularies vocabularies = vocabularies_with_tags(lines);
  const Vocabulary& vocabulary = *vocabularies.source;
  std::set<std::string> sources;
  for (uint64_t key = 0; key < 200; ++key) {
    LinkedPair pair = {
        .source = vocabulary.encode("我 我爱你们"), .target = vocabulary.encode("ka lo"), .links = {}};
    const auto last = static_cast<int32_t>(pair.source.size()) - 1,
               last_target = static_cast<int32_t>(pair.target.size()) - 1;
    pair.links = {{.source = last, .target = last_target}};
    Random random(key);
    add_linked_tags(vocabularies, 1000, random, pair);
    if (tagged_part(vocabulary.decode(pair.target)) == "lo")
      sources.insert(tagged_part(vocabulary.decode(pair.source)));
  }
  ASSERT_EQ(sources.size(), 1U);
  EXPECT_LT(sources.begin()->size(), std::string("我爱你们").size());
}

TEST_F(LinkedTagsTest, StayOutOfWhatTheyWouldSpoil) {
  const LinkedPair plain = pair_of(vocabulary_, "kalo miter", "looka terom");
  const LinkedPair with_tag = pair_of(vocabulary_, "kalo <b>miter</b>", "looka <b>terom</b>");
  const LinkedPair unknown = pair_of(vocabulary_, "kalo Ж", "looka Ж");
  for (uint64_t key = 0; key < 30; ++key) {
    for (const LinkedPair* pair : {&plain, &with_tag, &unknown}) {
      LinkedPair changed = *pair;
      Random random(key);
      add_linked_tags(vocabularies_, pair == &plain ? std::ssize(plain.source) : 1000, random, changed);
      EXPECT_EQ(changed, *pair);
    }
    const std::string text = "kalo {0}";
    LinkedPair placeholder = pair_of(vocabulary_, text, text);
    Random random(key);
    add_linked_tags(vocabularies_, 1000, random, placeholder);
    EXPECT_NE(vocabulary_.decode(placeholder.source).find(without_tags("{0}")), std::string::npos);
  }
}

// --- In a corpus ------------------------------------------------------------------------------------

class TagsInCorpusTest : public testing::Test {
 protected:
  PreparedCorpus prepare(const std::string& name, Links links) {
    return prepare_corpus(data_, {.size = 90}, folder_.path(name), 1, {}, links);
  }

  TemporaryFolder folder_;
  DataConfig data_ = [this] {
    DataConfig data = toy_data(folder_, toy_text(400));
    data.noise.tags = 0.3;
    return data;
  }();
};

size_t with_tags(PairLoader& loader, const PreparedCorpus& corpus, int64_t epoch) {
  size_t tagged = 0;
  for (uint32_t record = 0; record < corpus.shards.at(0).pairs().size(); ++record) {
    loader.load({0, record}, epoch);
    tagged += has_markup(corpus.vocabularies.source->decode(loader.pair.source));
    EXPECT_EQ(has_markup(corpus.vocabularies.source->decode(loader.pair.source)),
              has_markup(corpus.vocabularies.target->decode(loader.pair.target)));
    const PooledPair measured = loader.measure({0, record}, epoch);
    EXPECT_EQ(measured.source_length, std::ssize(loader.pair.source) + 1);
    EXPECT_EQ(measured.target_length, std::ssize(loader.pair.target) + 1);
  }
  return tagged;
}

TEST_F(TagsInCorpusTest, ComeWithTheLinks) {
  const PreparedCorpus corpus = prepare("linked", Links::learned);
  PairLoader stored(corpus, {}), loader(corpus, {.tags = 0.3});
  EXPECT_EQ(with_tags(stored, corpus, 0), 0U) << "the aligner would learn from tags";
  EXPECT_NEAR(static_cast<double>(with_tags(loader, corpus, 0)), 120, 40);
  const PreparedCorpus without = prepare("plain", Links::none);
  PairLoader plain(without, {.tags = 0.3});
  EXPECT_NEAR(static_cast<double>(with_tags(plain, without, 0)), 120, 40);
}

TEST_F(TagsInCorpusTest, AreOthersInEachEpoch) {
  const PreparedCorpus corpus = prepare("linked", Links::learned);
  PairLoader loader(corpus, {.tags = 0.3}), again(corpus, {.tags = 0.3}),
      other(corpus, {.seed = 2, .tags = 0.3});
  size_t same_in_epochs = 0, same_with_seeds = 0;
  for (uint32_t record = 0; record < 400; ++record) {
    loader.load({0, record}, 1);
    again.load({0, record}, 1);
    EXPECT_EQ(loader.pair, again.pair);
    again.load({0, record}, 2);
    other.load({0, record}, 1);
    same_in_epochs += loader.pair == again.pair;
    same_with_seeds += loader.pair == other.pair;
  }
  EXPECT_LT(same_in_epochs, 280U);
  EXPECT_LT(same_with_seeds, 280U);
}

}  // namespace
}  // namespace dragoman::internal
