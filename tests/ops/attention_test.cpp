// Attention against its formula, loop by loop in double precision: softmax(q·kᵀ/√width + bias)·v with dropout of the
// probabilities, the probabilities themselves, and the gradients by the chain rule.
#include <numeric>

#include "ops/reference.h"

namespace dragoman::internal {
namespace {

struct Shape {
  std::vector<int32_t> queries;
  std::vector<Span> keys;
  int64_t heads, width;
  bool causal;
  float dropout;
  int64_t reach = 0;  // of a bias and vectors by distance; 0: none
};

class Attention : public Reference {
 protected:
  struct Result {
    Doubles out, weights, dq, dk, dv, dbias, dkeys, dvalues;
  };

  int64_t distance_row(int64_t position, size_t key) const {
    return std::clamp(static_cast<int64_t>(key) - position, -shape_.reach, shape_.reach) + shape_.reach;
  }

  double added(const Doubles* table, int64_t position, size_t key, int64_t column) const {
    return shape_.reach > 0 ? (*table)(distance_row(position, key), column) : 0;
  }

  // One query of one head, at this position. out and the gradients are added to.
  void attend(int64_t row, int64_t position, Span keys, int64_t visible, int64_t head, RowKey key,
              Result& result) {
    const int64_t width = shape_.width, first = head * width;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    std::vector<double> p(static_cast<size_t>(visible)), kept(p.size()), dp(p.size());
    double sum = 0, sum_dp = 0;
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      double score = 0;
      for (int64_t c = first; c < first + width; ++c)
        score += (*q_)(row, c) * ((*k_)(key_row, c) + added(keys_, position, j, c - first));
      score = score * scale + added(bias_, position, j, head);
      sum += p[j] = std::exp(score);
      kept[j] = shape_.dropout == 0
                    ? 1
                    : dropout_multiplier(shape_.dropout, first_key(), key, head, static_cast<int64_t>(j));
    }
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      p[j] /= sum;
      result.weights(row, head * longest_ + static_cast<int64_t>(j)) = p[j];
      for (int64_t c = first; c < first + width; ++c) {
        const double value = (*v_)(key_row, c) + added(values_, position, j, c - first);
        const double dvalue = p[j] * kept[j] * (*dout_)(row, c);
        result.out(row, c) += p[j] * kept[j] * value;
        result.dv(key_row, c) += dvalue;
        if (shape_.reach > 0) result.dvalues(distance_row(position, j), c - first) += dvalue;
        dp[j] += kept[j] * (*dout_)(row, c) * value;
      }
      sum_dp += dp[j] * p[j];
    }
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      const double dbias = p[j] * (dp[j] - sum_dp), ds = dbias * scale;
      if (shape_.reach > 0) result.dbias(distance_row(position, j), head) += dbias;
      for (int64_t c = first; c < first + width; ++c) {
        result.dq(row, c) += ds * ((*k_)(key_row, c) + added(keys_, position, j, c - first));
        if (shape_.reach > 0) result.dkeys(distance_row(position, j), c - first) += ds * (*q_)(row, c);
        result.dk(key_row, c) += ds * (*q_)(row, c);
      }
    }
  }

  Result expected(const Tokens& queries) {
    Result result = {Doubles(q_->rows, q_->columns),
                     Doubles(q_->rows, shape_.heads * longest_),
                     Doubles(q_->rows, q_->columns),
                     Doubles(k_->rows, k_->columns),
                     Doubles(k_->rows, k_->columns),
                     Doubles(2 * shape_.reach + 1, shape_.heads),
                     Doubles(2 * shape_.reach + 1, shape_.width),
                     Doubles(2 * shape_.reach + 1, shape_.width)};
    for (size_t s = 0; s < shape_.keys.size(); ++s) {
      const Span span = queries.spans.spans.values()[s], keys = shape_.keys[s];
      for (int32_t i = 0; i < span.length; ++i) {
        const int64_t position = keys.length - span.length + i;
        const int64_t visible = shape_.causal ? position + 1 : keys.length;
        const RowKey key = queries.rows.values()[static_cast<size_t>(span.begin + i)];
        for (int64_t h = 0; h < shape_.heads; ++h)
          attend(span.begin + i, position, keys, visible, h, key, result);
      }
    }
    return result;
  }

  void check(const Shape& shape) {
    shape_ = shape;
    int64_t key_rows = 1;
    for (const Span& span : shape.keys) key_rows = std::max<int64_t>(key_rows, span.begin + span.length);
    const int64_t d = shape.heads * shape.width;
    const Tokens queries = tokens(shape.queries);
    const Spans keys(device_.pool, shape.keys);
    longest_ = keys.longest;
    const Tensor q = random(queries.count(), d, 3), k = random(key_rows, d), v = random(key_rows, d);
    Tensor bias, key_vectors, value_vectors;
    if (shape.reach > 0) {
      const int64_t rows = 2 * shape.reach + 1;
      bias = random(rows, shape.heads);
      key_vectors = random(rows, shape.width);
      value_vectors = random(rows, shape.width);
    }
    Pass pass = training();
    AttentionProbe probe;
    pass.probe = &probe;
    const Tensor out = attention(pass, q, k, v,
                                 {.queries = &queries.spans,
                                  .keys = &keys,
                                  .query_rows = &queries.rows,
                                  .heads = shape.heads,
                                  .causal = shape.causal,
                                  .dropout = shape.dropout,
                                  .distance_bias = bias,
                                  .bias_learns = true,
                                  .distance_keys = key_vectors,
                                  .distance_values = value_vectors});
    leave_behind(NAN);
    const Doubles q_values = doubles(q), k_values = doubles(k), v_values = doubles(v),
                  out_gradient = give_gradient(out);
    const Doubles bias_values = doubles(bias ? bias : q), key_vector_values = doubles(bias ? key_vectors : q),
                  value_vector_values = doubles(bias ? value_vectors : q);
    bias_ = &bias_values;
    keys_ = &key_vector_values;
    values_ = &value_vector_values;
    q_ = &q_values;
    k_ = &k_values;
    v_ = &v_values;
    dout_ = &out_gradient;
    tape_.backward();
    const Result wanted = expected(queries);
    expect_near(out, wanted.out, 2e-6, "output");
    expect_near(probe.weights.at(0), wanted.weights, 2e-6, "weights");
    expect_near(q.gradient(), wanted.dq, 1e-5, "gradient of q");
    expect_near(k.gradient(), wanted.dk, 1e-5, "gradient of k");
    expect_near(v.gradient(), wanted.dv, 1e-5, "gradient of v");
    if (!bias) return;
    expect_near(bias.gradient(), wanted.dbias, 1e-5, "gradient of the bias");
    expect_near(key_vectors.gradient(), wanted.dkeys, 1e-5, "gradient of the vectors of keys");
    expect_near(value_vectors.gradient(), wanted.dvalues, 1e-5, "gradient of the vectors of values");
  }

  // The memory that is given out next holds this.
  void leave_behind(float value) {
    const Tensor left(device_.pool, 512, 64);
    fill(left.matrix(), value);
  }

  Shape shape_;
  int64_t longest_ = 0;
  const Doubles *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *dout_ = nullptr, *bias_ = nullptr,
                *keys_ = nullptr, *values_ = nullptr;
};

TEST_P(Attention, OfASentenceToItself) { check({{4, 1, 9}, {{0, 4}, {4, 1}, {5, 9}}, 3, 5, false, 0}); }

TEST_P(Attention, Causal) { check({{4, 1, 9}, {{0, 4}, {4, 1}, {5, 9}}, 2, 7, true, 0}); }

TEST_P(Attention, ToAnotherSentence) { check({{4, 1, 9}, {{7, 2}, {0, 6}, {10, 1}}, 2, 8, false, 0}); }

TEST_P(Attention, TheLastOfMoreKeys) { check({{1, 3, 2}, {{20, 5}, {0, 9}, {11, 2}}, 2, 3, true, 0}); }

TEST_P(Attention, OfAnEmptySentence) { check({{4, 0, 2}, {{0, 4}, {4, 3}, {7, 2}}, 2, 5, false, 0}); }

TEST_P(Attention, WithDropout) { check({{4, 1, 70}, {{0, 4}, {4, 1}, {5, 70}}, 3, 5, true, 0.3F}); }

TEST_P(Attention, WithDropoutOfManyKeys) { check({{2, 85}, {{3, 200}, {210, 90}}, 2, 6, false, 0.1F}); }

TEST_P(Attention, WithBiasAndVectorsByDistance) {
  check({{4, 1, 9}, {{0, 4}, {4, 1}, {5, 9}}, 3, 5, false, 0, 2});
}

TEST_P(Attention, WithMoreDistancesThanThereAre) {
  check({{4, 1, 90}, {{0, 4}, {4, 1}, {5, 90}}, 2, 7, true, 0.2F, 130});
}

TEST_P(Attention, WithDistancesTheLastOfMoreKeys) {
  check({{1, 3, 2}, {{20, 5}, {0, 9}, {11, 2}}, 2, 3, true, 0, 3});
}

// Scores of ±1000 neither overflow nor lose the largest.
TEST_P(Attention, LargeScores) {
  const Tokens queries = tokens({2});
  const Spans keys(device_.pool, std::vector<Span>{{0, 3}});
  const Tensor q = random(2, 1), k = random(3, 1), v = random(3, 1);
  set(q.matrix(), {1000, -1000});
  set(k.matrix(), {0, 1, 2});
  Pass pass{device_};
  const Tensor out = attention(pass, q, k, v, {.queries = &queries.spans, .keys = &keys});
  const Floats values = floats(v);
  EXPECT_EQ(floats(out), (Floats{values[2], values[0]}));
}

// Each head's probabilities of a query sum to 1, none is below 0, and keys that the query may not see have 0.
TEST_P(Attention, WeightsOfEachHeadSumToOne) {
  const Tokens queries = tokens({90, 1, 3});
  const Spans keys(device_.pool, std::vector<Span>{{0, 100}, {100, 1}, {101, 7}});
  const int64_t heads = 2, width = 5;
  const Tensor q = random(94, heads * width, 3), k = random(108, heads * width);
  Pass pass{device_};
  const Tensor weights = attention_weights(
      pass, q, k, {.queries = &queries.spans, .keys = &keys, .heads = heads, .causal = true});
  ASSERT_EQ(weights.columns(), heads * 100);
  const Floats all = floats(weights);
  for (int64_t s = 0; s < 3; ++s) {
    const Span span = queries.spans.spans.values()[static_cast<size_t>(s)];
    const int32_t past = keys.spans.values()[static_cast<size_t>(s)].length - span.length;
    for (int64_t i = 0; i < span.length; ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        const float* row = all.data() + (span.begin + i) * weights.columns() + h * 100;
        EXPECT_NEAR(std::accumulate(row, row + past + i + 1, 0.0), 1, 1e-6);
        EXPECT_GE(*std::min_element(row, row + 100), 0);
        EXPECT_TRUE(std::all_of(row + past + i + 1, row + 100, [](float w) { return w == 0; }));
      }
    }
  }
}

TEST_P(Attention, AProbeKeepsTheOneThatIsWanted) {
  const Tokens queries = tokens({4});
  const Tensor q = random(4, 6), other = random(4, 6);
  AttentionProbe probe = {.only = 1};
  Pass pass{.device = device_, .probe = &probe};
  const AttentionOptions options = {.queries = &queries.spans, .keys = &queries.spans, .heads = 3};
  for (const Tensor& x : {q, other, q}) attention(pass, x, x, x, options);
  ASSERT_EQ(probe.weights.size(), 1U);
  const Tensor wanted = attention_weights(pass, other, other, options);
  EXPECT_TRUE(same_bits(floats(probe.weights[0]), floats(wanted)));
}

// In decoding keys are rows of a cache, in any order.
TEST_P(Attention, WeightsOfListedKeysAreThoseOfKeysSideBySide) {
  const Tokens queries = tokens({1, 1, 1});
  const int64_t heads = 3, width = 5;
  const Tensor q = random(3, heads * width, 3), cache = random(60, heads * width),
               k = random(41, heads * width);
  const Spans keys(device_.pool, std::vector<Span>{{0, 33}, {33, 1}, {34, 7}});
  std::vector<int32_t> rows;
  for (int32_t i = 0; i < 41; ++i) rows.push_back((i * 17 + 5) % 60);
  for (int64_t i = 0; i < 41; ++i)
    copy(k.data() + i * k.columns(), cache.data() + rows[static_cast<size_t>(i)] * cache.columns(),
         k.columns());
  const Array<int32_t> listed(device_.pool, rows);
  Pass pass{device_};
  const AttentionOptions options = {.queries = &queries.spans, .keys = &keys, .heads = heads};
  AttentionOptions with_rows = options;
  with_rows.key_rows = &listed;
  const Tensor wanted = attention_weights(pass, q, k, options),
               got = attention_weights(pass, q, cache, with_rows);
  EXPECT_TRUE(same_bits(floats(got), floats(wanted)));
}

INSTANTIATE_TEST_SUITE_P(On, Attention, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
