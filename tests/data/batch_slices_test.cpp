#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/batch.h"

namespace dragoman::internal {
namespace {

struct Lengths {
  int32_t source, target;
};

Batch batch_of(const std::vector<Lengths>& pairs) {
  Batch batch;
  const std::vector<int32_t> ids(1000, 7);
  for (const auto [source, target] : pairs) {
    batch.pairs.push_back(100 + batch.pairs.size());
    batch.source.add(ids.data(), ids.data() + source);
    batch.target_input.add(ids.data(), ids.data() + target);
    batch.targets.insert(batch.targets.end(), ids.begin(), ids.begin() + target);
  }
  return batch;
}

Batch random_batch(uint64_t seed, size_t count) {
  Random random(seed);
  const auto length = [&] { return static_cast<int32_t>(1 + random.below(30)); };
  std::vector<Lengths> pairs(count);
  for (Lengths& pair : pairs) pair = {length(), length()};
  return batch_of(pairs);
}

std::vector<BatchSlice> cut(const Batch& batch, int64_t part_tokens) {
  std::vector<BatchSlice> parts;
  BatchSlice rest = whole(batch);
  for (int64_t left = slice_count(batch, part_tokens); left > 0; --left)
    parts.push_back(take_slice(rest, left));
  return parts;
}

size_t sum(std::span<const int32_t> lengths) {
  return static_cast<size_t>(std::reduce(lengths.begin(), lengths.end()));
}

// A slice must begin in each list of the batch where the previous one ended.
struct Follower {
  size_t pairs = 0, source = 0, target = 0;

  void expect(const BatchSlice& part, const Batch& batch) {
    EXPECT_EQ(part.pairs.data(), &batch.pairs[pairs]);
    EXPECT_EQ(part.source.lengths.data(), &batch.source.lengths[pairs]);
    EXPECT_EQ(part.target_input.lengths.data(), &batch.target_input.lengths[pairs]);
    EXPECT_EQ(part.source.ids.data(), &batch.source.ids[source]);
    EXPECT_EQ(part.target_input.ids.data(), &batch.target_input.ids[target]);
    EXPECT_EQ(part.targets.data(), &batch.targets[target]);
    pairs += part.pairs.size();
    source += part.source.ids.size();
    target += part.targets.size();
  }
};

TEST(BatchSlices, AreConsecutiveWholeSentences) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Batch batch = random_batch(seed, 1 + seed * 3);
    for (const int64_t part_tokens : {0, 1, 50, 1000}) {
      Follower follower;
      for (const BatchSlice& part : cut(batch, part_tokens)) {
        EXPECT_FALSE(part.pairs.empty());
        EXPECT_EQ(part.source.lengths.size(), part.pairs.size());
        EXPECT_EQ(part.target_input.lengths.size(), part.pairs.size());
        EXPECT_EQ(part.source.ids.size(), sum(part.source.lengths));
        EXPECT_EQ(part.target_input.ids.size(), sum(part.target_input.lengths));
        EXPECT_EQ(part.targets.size(), part.target_input.ids.size());
        follower.expect(part, batch);
      }
      EXPECT_EQ(follower.pairs, batch.pairs.size());
    }
  }
}

TEST(BatchSlices, AreAboutEqualAndAsFewAsTheLargerSideAllows) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Batch batch = random_batch(seed, 200);  // some 3,100 tokens on either side, 60 at most in a pair
    const auto all = static_cast<double>(batch.source_tokens() + batch.target_tokens());
    const auto larger = static_cast<double>(std::max(batch.source_tokens(), batch.target_tokens()));
    for (const int64_t part_tokens : {400, 1500, 2500}) {
      const std::vector<BatchSlice> parts = cut(batch, part_tokens);
      EXPECT_EQ(static_cast<double>(parts.size()), std::ceil(larger / static_cast<double>(part_tokens)));
      for (const BatchSlice& part : parts) {
        EXPECT_NEAR(static_cast<double>(part.source.ids.size() + part.targets.size()),
                    all / static_cast<double>(parts.size()), 60);
      }
    }
  }
}

TEST(BatchSlices, AreAtMostOnePerSentence) {
  const auto pairs = [](const Batch& batch, int64_t part_tokens) {
    std::vector<size_t> sizes;
    for (const BatchSlice& part : cut(batch, part_tokens)) sizes.push_back(part.pairs.size());
    return sizes;
  };
  using Sizes = std::vector<size_t>;
  EXPECT_EQ(pairs(batch_of({{900, 900}}), 10), Sizes({1}));
  EXPECT_EQ(pairs(batch_of({{900, 2}, {1, 1}, {1, 1}}), 10), Sizes({1, 1, 1}));
  EXPECT_EQ(pairs(batch_of({{1, 1}, {1, 1}, {2, 900}}), 10), Sizes({1, 1, 1}));
  EXPECT_EQ(pairs(batch_of({}), 10), Sizes({0}));
}

TEST(BatchSlices, OfAllTokensAreTheBatch) {
  const Batch batch = batch_of({{3, 4}, {5, 6}});
  EXPECT_EQ(slice_count(batch, 0), 1);
  EXPECT_EQ(slice_count(batch, 10), 1);
  EXPECT_EQ(slice_count(batch, 9), 2);
  EXPECT_EQ(slice_count(batch, INT64_MAX), 1);
}

}  // namespace
}  // namespace dragoman::internal
