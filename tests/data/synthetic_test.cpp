#include "data/synthetic.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(CopyTaskBatches, AreTheArticles) {
  const SyntheticTask task = {.symbols = 11, .length = 10, .sentences = 30};
  const Batch batch = task.batch(3);
  EXPECT_EQ(batch.source_tokens(), 300);
  EXPECT_EQ(batch.target_tokens(), 270);
  ASSERT_EQ(batch.pairs.size(), 30U);
  ASSERT_EQ(batch.source.sentences(), 30);
  for (size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(batch.pairs[i], 90 + i);
    EXPECT_EQ(batch.source.lengths[i], 10);
    EXPECT_EQ(batch.target_input.lengths[i], 9);
    EXPECT_EQ(batch.source.ids[10 * i], 1);
    for (size_t t = 0; t < 9; ++t) {
      EXPECT_EQ(batch.target_input.ids[9 * i + t], batch.source.ids[10 * i + t]);
      EXPECT_EQ(batch.targets[9 * i + t], batch.source.ids[10 * i + t + 1]);
    }
  }
  std::vector<int> counts(11);
  for (const int32_t id : batch.source.ids) ++counts.at(static_cast<size_t>(id));
  EXPECT_EQ(counts[0], 0);
  for (size_t symbol = 1; symbol < 11; ++symbol) EXPECT_GT(counts[symbol], 5) << symbol;
}

// The sources of the copy task; after the start symbol the target is reversed or sorted.
TEST(SyntheticBatches, ReverseOrSortAfterTheStartSymbol) {
  for (const Synthetic kind : {Synthetic::reverse, Synthetic::sort}) {
    const SyntheticTask task = {.kind = kind};
    const Batch batch = task.batch(0);
    EXPECT_EQ(batch.source.ids, SyntheticTask().batch(0).source.ids);
    for (size_t i = 0; i < 30; ++i) {
      const auto source = batch.source.ids.begin() + static_cast<std::ptrdiff_t>(10 * i);
      std::vector<int32_t> target(source, source + 10);
      if (kind == Synthetic::reverse) std::reverse(target.begin() + 1, target.end());
      if (kind == Synthetic::sort) std::sort(target.begin() + 1, target.end());
      for (size_t t = 0; t < 9; ++t) {
        EXPECT_EQ(batch.target_input.ids[9 * i + t], target[t]);
        EXPECT_EQ(batch.targets[9 * i + t], target[t + 1]);
      }
    }
  }
}

TEST(CopyTaskBatches, AreAFunctionOfSeedAndNumber) {
  const SyntheticTask task = {.seed = 5}, other = {.seed = 6};
  EXPECT_EQ(task.batch(2).source.ids, task.batch(2).source.ids);
  EXPECT_NE(task.batch(2).source.ids, task.batch(3).source.ids);
  EXPECT_NE(task.batch(2).source.ids, other.batch(2).source.ids);
}

}  // namespace
}  // namespace dragoman::internal
