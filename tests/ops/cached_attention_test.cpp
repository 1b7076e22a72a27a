// Attention to the rows of a cache has the bits of attention to the same keys and values side by side, wherever their
// rows are.
#include <algorithm>
#include <numeric>

#include "ops/reference.h"

namespace dragoman::internal {
namespace {

using RowLists = std::vector<std::vector<int32_t>>;

// Sentences of these many keys, whose rows stand in the cache from the last to the first.
RowLists backwards(const std::vector<int32_t>& lengths) {
  int32_t next = 3 + std::accumulate(lengths.begin(), lengths.end(), 0);
  RowLists lists;
  for (const int32_t length : lengths) {
    for (lists.emplace_back(); std::ssize(lists.back()) < length;) lists.back().push_back(--next);
  }
  return lists;
}

// For each source so many hypotheses: each sees the first rows of its source, and some of its own.
RowLists hypotheses(int sources, int of_each, int32_t shared, const std::vector<int32_t>& own) {
  RowLists lists;
  int32_t next = 3;
  for (int source = 0; source < sources; ++source) {
    std::vector<int32_t> first(static_cast<size_t>(shared));
    std::iota(first.rbegin(), first.rend(), next);
    next += shared;
    for (int i = 0; i < of_each; ++i) {
      lists.push_back(first);
      for (int32_t n = own[lists.size() % own.size()]; n > 0; --n) lists.back().push_back(next++);
    }
  }
  return lists;
}

class CachedAttention : public Reference {
 protected:
  // One query for each list of rows. Some of the cache is nobody's.
  void check(int64_t heads, int64_t width, const RowLists& lists, int64_t reach = 0) {
    std::vector<Span> spans, ones;
    std::vector<int32_t> rows;
    for (const std::vector<int32_t>& list : lists) {
      spans.push_back({static_cast<int32_t>(rows.size()), static_cast<int32_t>(list.size())});
      ones.push_back({static_cast<int32_t>(ones.size()), 1});
      rows.insert(rows.end(), list.begin(), list.end());
    }
    const int64_t d = heads * width;
    const Tensor q = random(std::ssize(lists), d), kv = random(std::ssize(rows), 2 * d),
                 cache = random(std::ranges::max(rows) + 3, 2 * d);
    for (size_t r = 0; r < rows.size(); ++r)
      copy(kv.data() + static_cast<int64_t>(r) * 2 * d, cache.data() + rows[r] * 2 * d, 2 * d);

    const Spans queries(device_.pool, ones), keys(device_.pool, spans);
    const Array<int32_t> key_rows(device_.pool, rows);
    AttentionOptions options = {.queries = &queries, .keys = &keys, .heads = heads};
    if (reach > 0) {
      options.distance_bias = random(2 * reach + 1, heads);
      options.distance_keys = random(2 * reach + 1, width);
      options.distance_values = random(2 * reach + 1, width);
    }
    Pass pass{device_};
    const Tensor wanted = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d), options);
    options.key_rows = &key_rows;
    const Tensor got = attention(pass, q, cache.column_range(0, d), cache.column_range(d, d), options);
    EXPECT_TRUE(same_bits(floats(got), floats(wanted))) << heads << " heads of " << width;
  }
};

TEST_P(CachedAttention, IsAttention) {
  for (const int64_t width : {1, 5, 16, 31, 32, 33, 64, 100, 129})
    check(3, width, backwards({1, 2, 7, 16, 17, 40, 33}));
}

// A task is then all heads of a sentence, or of several.
TEST_P(CachedAttention, OfManySentencesIsAttention) {
  for (const size_t sentences : {40, 150}) {
    std::vector<int32_t> lengths(sentences);
    for (size_t i = 0; i < sentences; ++i) lengths[i] = static_cast<int32_t>(1 + i * 7 % 40);
    check(2, 24, backwards(lengths));
  }
}

TEST_P(CachedAttention, OfLongSentencesIsAttention) { check(2, 40, backwards({1500, 3, 700})); }

// All rows, most of them, or too few to be read once for all; of sources with one hypothesis, a few, and more than are
// taken together.
TEST_P(CachedAttention, OfHypothesesThatShareRowsIsAttention) {
  for (const int of_each : {1, 2, 3, 4, 5, 9}) {
    for (const int32_t shared : {1, 7, 16, 21, 48}) {
      check(3, 33, hypotheses(3, of_each, shared, {0}));
      check(3, 64, hypotheses(3, of_each, shared, {1, 5, 0, 17}));
      check(2, 64, hypotheses(2, of_each, shared, {20, 37, 33}));
    }
    check(2, 16, hypotheses(40, of_each, 23, {2, 0, 0, 0, 9}));
  }
}

TEST_P(CachedAttention, WithDistancesIsAttention) {
  for (const int64_t reach : {1, 20, 2000}) {
    check(3, 24, backwards({1, 2, 7, 16, 17, 40, 33}), reach);
    check(2, 5, backwards(std::vector<int32_t>(150, 23)), reach);
    check(2, 24, hypotheses(3, 4, 20, {0, 3, 18}), reach);
  }
}

INSTANTIATE_TEST_SUITE_P(On, CachedAttention, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
