// Attention to the rows of a cache has the bits of attention to the same keys and values side by side, wherever their
// rows are.
#include <algorithm>
#include <numeric>

#include "ops/reference.h"

namespace dragoman::internal {
namespace {

class CachedAttention : public Reference {
 protected:
  // Sentences of these many keys, of one query each. Their rows stand in the cache from the last to the first, and some
  // of it is nobody's.
  void check(int64_t heads, int64_t width, const std::vector<int32_t>& lengths, int64_t reach = 0) {
    std::vector<Span> spans, ones;
    int32_t count = 0;
    for (const int32_t length : lengths) {
      spans.push_back({count, length});
      ones.push_back({static_cast<int32_t>(ones.size()), 1});
      count += length;
    }
    std::vector<int32_t> rows(static_cast<size_t>(count));
    std::iota(rows.rbegin(), rows.rend(), 3);
    const int64_t d = heads * width;
    const Tensor q = random(static_cast<int64_t>(lengths.size()), d), kv = random(count, 2 * d),
                 cache = random(count + 5, 2 * d);
    for (int32_t r = 0; r < count; ++r)
      copy(cache.data() + rows[static_cast<size_t>(r)] * 2 * d, kv.data() + r * 2 * d, 2 * d);

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
  for (const int64_t width : {1, 5, 16, 31, 32, 33, 64, 100, 129}) check(3, width, {1, 2, 7, 16, 17, 40, 33});
}

// A task is then all heads of a sentence, or of several.
TEST_P(CachedAttention, OfManySentencesIsAttention) {
  for (const size_t sentences : {40, 150}) {
    std::vector<int32_t> lengths(sentences);
    for (size_t i = 0; i < sentences; ++i) lengths[i] = static_cast<int32_t>(1 + i * 7 % 40);
    check(2, 24, lengths);
  }
}

TEST_P(CachedAttention, OfLongSentencesIsAttention) { check(2, 40, {1500, 3, 700}); }

TEST_P(CachedAttention, WithDistancesIsAttention) {
  for (const int64_t reach : {1, 20, 2000}) {
    check(3, 24, {1, 2, 7, 16, 17, 40, 33}, reach);
    check(2, 5, std::vector<int32_t>(150, 23), reach);
  }
}

INSTANTIATE_TEST_SUITE_P(On, CachedAttention, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
