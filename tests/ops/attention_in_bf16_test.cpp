// Attention of q, k and v in bf16 alone, on the tables that have it: against attention of the same numbers as floats,
// on the processor. Rows that belong to no span are NaN, and must change nothing.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/nearest_bf16.h"
#include "tensor/array.h"
#include "tensor/device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t padding = 16;  // columns that no kernel may touch

// The spans of a batch, each after a row of nobody's.
std::vector<Span> spans_of(const std::vector<int32_t>& lengths) {
  std::vector<Span> spans;
  int32_t begin = 1;
  for (const int32_t length : lengths) {
    spans.push_back({begin, length});
    begin += length + 1;
  }
  return spans;
}
int64_t rows_of(const std::vector<Span>& spans) {
  return spans.empty() ? 1 : spans.back().begin + spans.back().length + 1;
}

struct Batch {
  std::vector<Span> queries, keys;
  int64_t heads = 2, width = 64;
  bool causal = false;
  float dropout = 0;
  std::vector<int32_t> key_rows = {};  // unless empty, `keys` are spans of this list

  int64_t stride() const { return heads * width + padding; }
  int64_t longest_keys() const {
    int64_t longest = 0;
    for (const Span& span : keys) longest = std::max<int64_t>(longest, span.length);
    return longest;
  }
};

// Random numbers, exact in bf16, in the rows of these spans; NaN elsewhere.
Floats numbers(const std::vector<Span>& spans, const Batch& batch, uint64_t key, double size = 1) {
  Floats x(static_cast<size_t>(rows_of(spans) * batch.stride()), nan);
  for (size_t s = 0; s < spans.size(); ++s) {
    const Floats drawn =
        random_floats(spans[s].length * batch.heads * batch.width, key + 100 * s, -size, size);
    for (int64_t i = 0; i < std::ssize(drawn); ++i)
      x[static_cast<size_t>((spans[s].begin + i / (batch.heads * batch.width)) * batch.stride() +
                            i % (batch.heads * batch.width))] =
          float_of_bf16(nearest_bf16(drawn[static_cast<size_t>(i)]));
  }
  return x;
}

struct Inputs {
  Floats q, k, v, dout;
};
Inputs inputs_of(const Batch& batch, uint64_t key = 1) {
  return {numbers(batch.queries, batch, key, 2), numbers(batch.keys, batch, key + 10, 2),
          numbers(batch.keys, batch, key + 20), numbers(batch.queries, batch, key + 30)};
}

struct Results {
  Floats out, log_sums, dq, dk, dv;
};

// Where results are wanted, and what is there before; the gradient of the output comes in bf16, or as floats.
struct Way {
  bool floats = false, rounded = true;
  bool accumulate = false;
  float before = 3;
  bool float_gradient = false;
};

class OneDevice {
 public:
  explicit OneDevice(const Kernels& kernels) : device_(kernels, 2) {}

  // On floats, as a processor computes it. `out`: what the backward pass is to take for the output.
  Results on_floats(const Batch& batch, const Inputs& x, const Floats& out) {
    const Array<float> q = floats(x.q), k = floats(x.k), v = floats(x.v), dout = floats(x.dout),
                       computed = floats(x.q), given = floats(out), dq = floats(x.q), dk = floats(x.k),
                       dv = floats(x.k), log_sums(device_.pool, rows_of(batch.queries) * batch.heads);
    prepare(batch);
    device_.kernels.attention(device_.context, shape_, in(q, batch), in(k, batch), in(v, batch),
                              to(computed, batch), log_sums.data());
    device_.kernels.attention_backward(device_.context, shape_, in(q, batch), in(k, batch), in(v, batch),
                                       in(given, batch), in(dout, batch), log_sums.data(), false,
                                       to(dq, batch), to(dk, batch), to(dv, batch), {});
    return {computed.download(), log_sums.download(), dq.download(), dk.download(), dv.download()};
  }

  // Forward alone.
  Results forward(const Batch& batch, const Inputs& x) {
    const Array<uint16_t> q = halves(x.q), k = halves(x.k), v = halves(x.v), out = halves(x.q);
    const Array<float> log_sums(device_.pool,
                                Floats(static_cast<size_t>(rows_of(batch.queries) * batch.heads), nan));
    prepare(batch);
    device_.kernels.attention(device_.context, shape_, in(q, batch), in(k, batch), in(v, batch),
                              to(out, batch), batch.key_rows.empty() ? log_sums.data() : nullptr);
    return {widened(out.download()), log_sums.download(), {}, {}, {}};
  }

  // `rounded` of the results: those that were rounded.
  Results backward(const Batch& batch, const Inputs& x, const Results& forward, const Way& way) {
    const Array<uint16_t> q = halves(x.q), k = halves(x.k), v = halves(x.v), out = halves(forward.out),
                          dout = halves(x.dout);
    const Array<float> float_dout = floats(x.dout), log_sums = floats(forward.log_sums);
    const auto place = [&](const Floats& like) {
      return std::pair(floats(Floats(like.size(), way.before)), halves(Floats(like.size(), way.before)));
    };
    const auto dq = place(x.q), dk = place(x.k), dv = place(x.k);
    const auto target = [&](const auto& both) {
      Matrix m = to(both.first, batch);
      m.rounded = way.rounded ? both.second.data() : nullptr;
      if (!way.floats) m.data = nullptr;
      return m;
    };
    prepare(batch);
    device_.kernels.attention_backward(
        device_.context, shape_, in(q, batch), in(k, batch), in(v, batch), in(out, batch),
        way.float_gradient ? in(float_dout, batch) : in(dout, batch), log_sums.data(), way.accumulate,
        target(dq), target(dk), target(dv), {});
    const auto result = [&](const auto& both) {
      if (way.floats && way.rounded) {
        EXPECT_EQ(rounded(both.first.download()), both.second.download());
      }
      return way.floats ? both.first.download() : widened(both.second.download());
    };
    return {{}, {}, result(dq), result(dk), result(dv)};
  }

 private:
  Array<float> floats(const Floats& x) { return {device_.pool, std::span<const float>(x)}; }
  Array<uint16_t> halves(const Floats& x) { return {device_.pool, std::span<const uint16_t>(rounded(x))}; }
  ConstMatrix in(const Array<float>& x, const Batch& batch) { return to(x, batch); }
  ConstMatrix in(const Array<uint16_t>& x, const Batch& batch) { return to(x, batch); }
  Matrix to(const Array<float>& x, const Batch& batch) {
    return {x.data(), x.size() / batch.stride(), batch.heads * batch.width, batch.stride()};
  }
  Matrix to(const Array<uint16_t>& x, const Batch& batch) {
    return {nullptr, x.size() / batch.stride(), batch.heads * batch.width, batch.stride(), x.data()};
  }

  void prepare(const Batch& batch) {
    queries_ = Array<Span>(device_.pool, std::span<const Span>(batch.queries));
    keys_ = Array<Span>(device_.pool, std::span<const Span>(batch.keys));
    key_rows_ = Array<int32_t>(device_.pool, std::span<const int32_t>(batch.key_rows));
    // By the span and the place in it: a span's masks are the same wherever it is.
    std::vector<RowKey> rows(static_cast<size_t>(rows_of(batch.queries)));
    for (const Span& span : batch.queries)
      for (int32_t i = 0; i < span.length; ++i)
        rows[static_cast<size_t>(span.begin + i)] = {(uint64_t{7} << 33) + static_cast<uint64_t>(span.length),
                                                     static_cast<uint32_t>(i)};
    rows_ = Array<RowKey>(device_.pool, std::span<const RowKey>(rows));
    shape_ = {.queries = queries_.data(),
              .keys = keys_.data(),
              .key_rows = batch.key_rows.empty() ? nullptr : key_rows_.data(),
              .spans = std::ssize(batch.queries),
              .longest_keys = batch.longest_keys(),
              .heads = batch.heads,
              .width = batch.width,
              .scale = 1 / std::sqrt(static_cast<float>(batch.width)),
              .causal = batch.causal,
              .dropout = {batch.dropout, {5, 11}, rows_.data()}};
  }

  Device device_;
  Array<Span> queries_, keys_;
  Array<int32_t> key_rows_;
  Array<RowKey> rows_;
  AttentionShape shape_ = {};
};

class AttentionInBf16 : public testing::TestWithParam<const Kernels*> {
 protected:
  // Each element of the spans' rows within `tolerance` of the row's largest and of a tenth of the matrix's; all else is
  // as it was before.
  void expect_near(const Batch& batch, const std::vector<Span>& spans, const Floats& got,
                   const Floats& wanted, double tolerance, float before, const char* what) {
    double largest = 0;
    const auto at = [&](const Floats& x, int64_t r, int64_t c) {
      return static_cast<double>(x[static_cast<size_t>(r * batch.stride() + c)]);
    };
    std::vector<bool> of_span(static_cast<size_t>(rows_of(spans)));
    for (const Span& span : spans) std::fill_n(of_span.begin() + span.begin, span.length, true);
    for (const double v : wanted)
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    for (int64_t r = 0; r < rows_of(spans); ++r) {
      double of_row = 0;
      for (int64_t c = 0; c < batch.heads * batch.width; ++c)
        of_row = std::max(of_row, std::abs(at(wanted, r, c)));
      for (int64_t c = 0; c < batch.stride(); ++c) {
        if (of_span[static_cast<size_t>(r)] && c < batch.heads * batch.width) {
          ASSERT_NEAR(at(got, r, c), at(wanted, r, c), tolerance * (of_row + 0.1 * largest))
              << what << ", row " << r << ", column " << c;
        } else if (std::isnan(before)) {
          ASSERT_TRUE(std::isnan(at(got, r, c))) << what << ", row " << r << ", column " << c;
        } else {
          ASSERT_EQ(at(got, r, c), static_cast<double>(before)) << what << ", row " << r << ", column " << c;
        }
      }
    }
  }

  void check(const Batch& batch) {
    const Inputs x = inputs_of(batch);
    const Results got = gpu_.forward(batch, x), wanted = cpu_.on_floats(batch, x, got.out);
    expect_near(batch, batch.queries, got.out, wanted.out, 0.006, nan, "output");
    for (const Span& span : batch.queries)
      for (size_t i = static_cast<size_t>(span.begin * batch.heads);
           i < static_cast<size_t>((span.begin + span.length) * batch.heads); ++i)
        if (got.log_sums[i] != wanted.log_sums[i]) {  // without keys they are infinite
          ASSERT_NEAR(got.log_sums[i], wanted.log_sums[i], 2e-6 * (2 + std::abs(wanted.log_sums[i])))
              << "log-sum " << i;
        }
    const Results gradients = gpu_.backward(batch, x, got, {});
    expect_near(batch, batch.queries, gradients.dq, wanted.dq, 0.008, 3, "gradient of q");
    expect_near(batch, batch.keys, gradients.dk, wanted.dk, 0.008, 3, "gradient of k");
    expect_near(batch, batch.keys, gradients.dv, wanted.dv, 0.008, 3, "gradient of v");
  }

  OneDevice gpu_{*GetParam()};
  OneDevice cpu_{*every_instruction_set().back()};
};

const std::vector<int32_t> some_lengths = {5, 0, 17, 40};
const std::vector<int32_t> all_lengths = {0, 1, 15, 16, 17, 63, 64, 65, 130};

TEST_P(AttentionInBf16, IsNearThatOfFloatsForAllLengths) {
  const auto spans = spans_of(all_lengths);
  check({spans, spans, 1, 64});
  check({spans, spans, 1, 64, true});
}

TEST_P(AttentionInBf16, IsNearThatOfFloatsForAllWidths) {
  const auto spans = spans_of(some_lengths);
  for (const int64_t width : {8, 16, 24, 32, 40, 64, 72, 128})
    check({spans, spans, 3, width, width % 3 == 0});
}

TEST_P(AttentionInBf16, DropsAsTheProcessorDoes) {
  const auto spans = spans_of({70, 1, 33});
  check({spans, spans, 2, 64, false, 0.3F});
  check({spans, spans, 2, 8, true, 0.1F});
}

TEST_P(AttentionInBf16, OfOneSentenceToAnother) {
  check({spans_of({3, 70, 0, 20, 12, 0}), spans_of({20, 9, 5, 0, 66, 0}), 2, 64, false, 0.2F});
}

TEST_P(AttentionInBf16, OfTheLastOfMoreKeys) {
  check({spans_of({3, 1, 20}), spans_of({20, 66, 90}), 2, 32, true});
}

TEST_P(AttentionInBf16, OfLongSpans) {
  const auto spans = spans_of({200});
  check({spans, spans, 1, 128, true, 0.1F});
}

// The rows of a span have the same bits alone, elsewhere in the matrix, and at every repetition.
TEST_P(AttentionInBf16, HasTheSameBitsInAnyBatch) {
  for (const int32_t length : {23, 75}) {
    Batch alone{spans_of({length}), spans_of({length}), 2, 64, true, 0.1F}, among = alone;
    among.queries = among.keys = spans_of({9, 100, length});
    const Inputs x = inputs_of(alone);
    Inputs y = inputs_of(among, 7);
    const auto size = static_cast<int64_t>(length * alone.stride());
    const auto place = [&](const Floats& all) { return all.end() - alone.stride() - size; };
    for (auto [from, to] : {std::pair{&x.q, &y.q}, {&x.k, &y.k}, {&x.v, &y.v}, {&x.dout, &y.dout}})
      std::copy_n(from->begin() + alone.stride(), size, to->end() - alone.stride() - size);
    const Results a = gpu_.forward(alone, x), b = gpu_.forward(among, y);
    const Results da = gpu_.backward(alone, x, a, {}), db = gpu_.backward(among, y, b, {}),
                  again = gpu_.backward(among, y, b, {});
    const auto same = [&](const Floats& one, const Floats& many, const char* what) {
      EXPECT_TRUE(std::equal(
          place(many), place(many) + size, one.begin() + alone.stride(),
          [&, i = int64_t{0}](float m, float o) mutable { return i++ % alone.stride() >= 2 * 64 || m == o; }))
          << what;
    };
    same(a.out, b.out, "output");
    same(da.dq, db.dq, "gradient of q");
    same(da.dk, db.dk, "gradient of k");
    same(da.dv, db.dv, "gradient of v");
    EXPECT_TRUE(same_bits(db.dq, again.dq) && same_bits(db.dk, again.dk) && same_bits(db.dv, again.dv));
  }
}

// Token by token, as a step of decoding sees them.
TEST_P(AttentionInBf16, OfTheLastQueryAloneHasTheSameBits) {
  for (const int32_t length : {7, 18, 70}) {
    const Batch whole{spans_of({length}), spans_of({length}), 2, 64, true};
    Batch last = whole;
    last.queries = {{length, 1}};
    const Inputs x = inputs_of(whole);
    const Results a = gpu_.forward(whole, x), b = gpu_.forward(last, x);
    const auto row = length * whole.stride();
    EXPECT_TRUE(std::equal(a.out.begin() + row, a.out.begin() + row + 2 * 64, b.out.begin() + row));
    EXPECT_EQ(a.log_sums[static_cast<size_t>(length * 2 + 1)],
              b.log_sums[static_cast<size_t>(length * 2 + 1)]);
  }
}

// As a cache has them.
TEST_P(AttentionInBf16, OfKeysInAnyRowsHasTheBitsOfKeysInTheirOrder) {
  for (const int64_t width : {8, 64, 128}) {
    const Batch in_order{spans_of({1, 1, 1, 1}), spans_of({1, 17, 70, 130}), 2, width};
    Batch listed = in_order;
    const Inputs x = inputs_of(in_order);
    Inputs y = x;
    const int64_t rows = rows_of(in_order.keys), stride = in_order.stride();
    for (int64_t r = 0; r < rows; ++r)
      for (auto [from, to] : {std::pair{&x.k, &y.k}, {&x.v, &y.v}})
        std::copy_n(from->begin() + r * stride, stride, to->begin() + (rows - 1 - r) * stride);
    for (Span& span : listed.keys) {
      const auto begin = static_cast<int32_t>(listed.key_rows.size());
      for (int32_t i = 0; i < span.length; ++i)
        listed.key_rows.push_back(static_cast<int32_t>(rows) - 1 - (span.begin + i));
      span.begin = begin;
    }
    const Floats wanted = gpu_.forward(in_order, x).out, got = gpu_.forward(listed, y).out;
    for (const Span& span : in_order.queries)
      EXPECT_TRUE(std::equal(wanted.begin() + span.begin * stride,
                             wanted.begin() + span.begin * stride + 2 * width,
                             got.begin() + span.begin * stride))
          << "width " << width << ", query " << span.begin;
  }
}

// Gradients are floats that are rounded once, whether they are written or added.
TEST_P(AttentionInBf16, GradientsAreRoundedOnce) {
  const Batch batch{spans_of({20, 70}), spans_of({33, 66}), 2, 24, false, 0.1F};
  const Inputs x = inputs_of(batch);
  const Results forward = gpu_.forward(batch, x);
  const Results exact = gpu_.backward(batch, x, forward, {.floats = true, .rounded = false}),
                both = gpu_.backward(batch, x, forward, {.floats = true}),
                written = gpu_.backward(batch, x, forward, {}),
                floats =
                    gpu_.backward(batch, x, forward, {.floats = true, .accumulate = true, .before = 0.3F}),
                added = gpu_.backward(batch, x, forward, {.accumulate = true, .before = 0.25F}),
                of_floats = gpu_.backward(batch, x, forward, {.float_gradient = true});
  const auto check_one = [&](Floats Results::*which, const std::vector<Span>& spans) {
    EXPECT_TRUE(same_bits(exact.*which, both.*which));
    EXPECT_TRUE(same_bits(written.*which, of_floats.*which));
    for (const Span& span : spans) {
      for (int64_t r = span.begin; r < span.begin + span.length; ++r) {
        for (int64_t c = 0; c < batch.heads * batch.width; ++c) {
          const auto i = static_cast<size_t>(r * batch.stride() + c);
          const float gradient = (exact.*which)[i];
          ASSERT_EQ((written.*which)[i], float_of_bf16(nearest_bf16(gradient)));
          ASSERT_EQ((floats.*which)[i], gradient + 0.3F);
          ASSERT_EQ((added.*which)[i], float_of_bf16(nearest_bf16(gradient + 0.25F)));
        }
      }
    }
  };
  check_one(&Results::dq, batch.queries);
  check_one(&Results::dk, batch.keys);
  check_one(&Results::dv, batch.keys);
}

std::vector<const Kernels*> tables_with_bf16() {
  std::vector<const Kernels*> tables = every_table();
  std::erase_if(tables, [](const Kernels* table) { return table->low_precision.round == nullptr; });
  return tables;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AttentionInBf16);
INSTANTIATE_TEST_SUITE_P(On, AttentionInBf16, testing::ValuesIn(tables_with_bf16()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
