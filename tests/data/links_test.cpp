// Links of a prepared corpus: learned, stored, moved to other pieces, and packed into batches.
#include "data/links.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "data/batches.h"
#include "data/corpora.h"
#include "data/pair_loader.h"
#include "data/synthetic.h"

namespace dragoman::internal {
namespace {

class LinksTest : public testing::Test {
 protected:
  PreparedCorpus prepare(const std::string& name, int threads, Links links = Links::learned) {
    return prepare_corpus(data_, toy_vocabulary(), folder_.path(name), threads, {}, links);
  }

  TemporaryFolder folder_;
  DataConfig data_ = toy_data(folder_, toy_text(300));
};

TEST_F(LinksTest, HaveTheSameBytesOnAnyNumberOfThreads) {
  const PreparedCorpus one = prepare("one", 1), three = prepare("three", 3);
  ASSERT_EQ(one.links.size(), one.shards.size());
  EXPECT_EQ(read_file(folder_.path("one/links-000")), read_file(folder_.path("three/links-000")));
  EXPECT_TRUE(prepare("one", 2).was_there);
  EXPECT_FALSE(prepare("one", 2, Links::none).was_there);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("one/links-000")));
}

TEST_F(LinksTest, OfAnotherCorpusAreRefused) {
  prepare("one", 1);
  prepare_corpus(toy_data(folder_, toy_text(200), "other"), toy_vocabulary(), folder_.path("other"), 1, {},
                 Links::learned);
  std::filesystem::copy_file(folder_.path("other/links-000"), folder_.path("one/links-000"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(prepared_corpus(folder_.path("one"), 1), Error);
  EXPECT_FALSE(prepare("one", 1).was_there) << "they are not learned again";
  EXPECT_NO_THROW(prepared_corpus(folder_.path("one"), 1));
}

// The text that a piece of these ids spells, as places in the whole.
std::pair<size_t, size_t> span_of(const Vocabulary& vocabulary, const std::vector<int32_t>& ids,
                                  int32_t piece) {
  size_t begin = 0;
  for (int32_t i = 0; i < piece; ++i) begin += vocabulary.piece(ids[static_cast<size_t>(i)]).size();
  return {begin, begin + vocabulary.piece(ids[static_cast<size_t>(piece)]).size()};
}

// Wherever pieces are sampled, one is linked exactly where a character of it was.
TEST_F(LinksTest, FollowTheirCharactersWherePiecesAreSampled) {
  const PreparedCorpus corpus = prepare("one", 2);
  const Vocabulary &source = *corpus.vocabularies.source, &target = *corpus.vocabularies.target;
  PairLoader plain(corpus, {}), sampled(corpus, {.sampling = 0.5, .max_length = 1000});
  size_t moved = 0;
  for (uint32_t record = 0; record < 40; ++record) {
    plain.load({0, record}, 0);
    sampled.load({0, record}, 0);
    moved += plain.pair.links != sampled.pair.links;
    const auto overlap = [](auto a, auto b) { return a.first < b.second && b.first < a.second; };
    for (int32_t s = 0; s < std::ssize(sampled.pair.source); ++s) {
      for (int32_t t = 0; t < std::ssize(sampled.pair.target); ++t) {
        const bool wanted = std::ranges::any_of(plain.pair.links, [&](const Link& link) {
          return overlap(span_of(source, plain.pair.source, link.source),
                         span_of(source, sampled.pair.source, s)) &&
                 overlap(span_of(target, plain.pair.target, link.target),
                         span_of(target, sampled.pair.target, t));
        });
        ASSERT_EQ(std::ranges::count(sampled.pair.links, Link{.source = s, .target = t}), wanted ? 1 : 0)
            << "pair " << record << ", " << s << "-" << t;
      }
    }
  }
  EXPECT_GT(moved, 30U);
}

// A batch's links are those of its pairs, at the places that the model sees.
TEST_F(LinksTest, ComeWithTheirBatches) {
  const PreparedCorpus corpus = prepare("one", 1);
  PairLoader loader(corpus, {});
  ShardedBatches batches(corpus, {.batch_tokens = 200});
  size_t links = 0;
  while (const auto batch = batches.next()) {
    ASSERT_EQ(batch->links.counts.size(), batch->targets.size());
    size_t row = 0, next = 0;
    for (size_t i = 0; i < batch->pairs.size(); ++i) {
      loader.load({0, static_cast<uint32_t>(batch->pairs[i])}, 0);
      std::vector<Link> found;
      for (int32_t t = 0; t < batch->target_input.lengths[i]; ++t, ++row) {
        for (int32_t n = 0; n < batch->links.counts[row]; ++n, ++next)
          found.push_back({.source = batch->links.sources[next], .target = t});
      }
      EXPECT_EQ(found, loader.pair.links);
      links += found.size();
    }
    EXPECT_EQ(next, batch->links.sources.size());
  }
  EXPECT_GT(links, 1000U);
}

TEST(SyntheticLinks, AreToTheSameSymbol) {
  for (const Synthetic kind : {Synthetic::copy, Synthetic::reverse, Synthetic::sort}) {
    const Batch batch = SyntheticTask{.kind = kind}.batch(1);
    ASSERT_EQ(batch.links.counts, std::vector<int32_t>(batch.targets.size(), 1));
    for (size_t row = 0; row < batch.targets.size(); ++row) {
      const size_t sentence = row / 9, place = static_cast<size_t>(batch.links.sources[row]);
      EXPECT_EQ(batch.source.ids[10 * sentence + place], batch.targets[row]);
    }
  }
}

TEST(SyntheticLinks, AreCutWithTheirBatch) {
  const Batch batch = SyntheticTask{.kind = Synthetic::reverse}.batch(1);
  BatchSlice rest = whole(batch);
  std::vector<int32_t> sources;
  for (int64_t left = 4; left > 0; --left) {
    const BatchSlice part = take_slice(rest, left);
    EXPECT_EQ(part.link_counts.size(), part.targets.size());
    EXPECT_EQ(part.linked_sources.size(), part.targets.size());
    sources.insert(sources.end(), part.linked_sources.begin(), part.linked_sources.end());
  }
  EXPECT_EQ(sources, batch.links.sources);
}

}  // namespace
}  // namespace dragoman::internal
