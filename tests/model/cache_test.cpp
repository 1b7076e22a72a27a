// Attention to a cache has the bits of attention to the same keys and values side by side, wherever their rows are.
#include "model/cache.h"

#include <algorithm>
#include <numeric>

#include "testing.h"

namespace dragoman {
namespace {

class CachedAttention : public testing::TestWithParam<const Kernels*> {
 protected:
  Tensor random(int64_t rows, int64_t columns) {
    Tensor tensor(device_.pool, rows, columns);
    std::ranges::copy(random_floats(static_cast<size_t>(rows * columns), ++drawn_), tensor.data());
    return tensor;
  }

  // Sentences of these many keys, of one query each. They stand in the cache's rows from the last to the first, for
  // which it grows as they come.
  void check(Precision precision, int64_t heads, int64_t width, const std::vector<int32_t>& lengths) {
    std::vector<Span> spans, ones;
    std::vector<std::vector<int32_t>> rows;
    int32_t count = 0;
    for (const int32_t length : lengths) {
      spans.push_back({count, length});
      ones.push_back({static_cast<int32_t>(ones.size()), 1});
      rows.emplace_back(static_cast<size_t>(length));
      count += length;
    }
    for (size_t s = 0; s < rows.size(); ++s)
      std::iota(rows[s].rbegin(), rows[s].rend(), count - spans[s].begin - spans[s].length);
    const int64_t d = heads * width;
    const Tensor q = random(static_cast<int64_t>(lengths.size()), d), kv = random(count, 2 * d);
    const float unusual[] = {1e-40F, -0.0F, 1e30F, -1e30F};
    for (size_t i = 0; i < 4; ++i) kv.data()[i * 2] = unusual[i];

    Cache cache(device_, precision, 2, heads, width);
    for (size_t s = rows.size(); s-- > 0;) {
      cache.reserve(rows[s].front() + 1);
      const Array<int32_t> to(device_.pool, rows[s]);
      for (const size_t layer : {0, 1}) cache.store(layer, kv.row_range(spans[s].begin, spans[s].length), to);
    }
    if (precision == Precision::bf16) device_.kernels.round_to_bf16(device_.context, kv.matrix());

    const Spans queries(device_.pool, ones), keys(device_.pool, spans);
    const std::vector<std::span<const int32_t>> listed(rows.begin(), rows.end());
    Pass pass{device_};
    const Tensor wanted = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                                    {.queries = &queries, .keys = &keys, .heads = heads});
    const KeyRows seen = key_rows(device_, listed);
    for (const size_t layer : {0, 1}) {
      const Tensor got = attention_to_cache(pass, q, queries, cache.layer(layer), seen);
      EXPECT_TRUE(same_bits({got.data(), static_cast<size_t>(got.rows() * d)},
                            {wanted.data(), static_cast<size_t>(got.rows() * d)}))
          << heads << " heads of " << width << " in " << (precision == Precision::bf16 ? "bf16" : "fp32");
    }
  }

  Device device_{*GetParam(), 2};
  uint64_t drawn_ = 0;
};

TEST_P(CachedAttention, IsAttention) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    for (const int64_t width : {1, 5, 16, 31, 32, 33, 64, 100, 129})
      check(precision, 3, width, {1, 2, 7, 16, 17, 40, 33});
  }
}

// A task is then all heads of a sentence, or of several.
TEST_P(CachedAttention, OfManySentencesIsAttention) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    for (const size_t sentences : {40, 150}) {
      std::vector<int32_t> lengths(sentences);
      for (size_t i = 0; i < sentences; ++i) lengths[i] = static_cast<int32_t>(1 + i * 7 % 40);
      check(precision, 2, 24, lengths);
    }
  }
}

TEST_P(CachedAttention, OfLongSentencesIsAttention) {
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    check(precision, 2, 40, {1500, 3, 700});
}

INSTANTIATE_TEST_SUITE_P(On, CachedAttention, testing::ValuesIn(every_instruction_set()), kernels_name);

}  // namespace
}  // namespace dragoman
