// Attention against its formula, loop by loop in double precision: softmax(q·kᵀ/√width)·v with dropout of the
// probabilities, and the gradients by the chain rule.
#include "ops/reference.h"

namespace dragoman {
namespace {

struct Shape {
  std::vector<int32_t> queries;
  std::vector<Span> keys;
  int64_t heads, width;
  bool causal;
  float dropout;
};

class Attention : public Reference {
 protected:
  struct Result {
    Doubles out, dq, dk, dv;
  };

  // One query of one head. out and the gradients are added to.
  void attend(int64_t row, Span keys, int64_t visible, int64_t head, RowKey key, Result& result) {
    const int64_t width = shape_.width, first = head * width;
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    std::vector<double> p(static_cast<size_t>(visible)), kept(p.size()), dp(p.size());
    double sum = 0, sum_dp = 0;
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      double score = 0;
      for (int64_t c = first; c < first + width; ++c) score += (*q_)(row, c) * (*k_)(key_row, c);
      sum += p[j] = std::exp(score * scale);
      kept[j] = shape_.dropout == 0
                    ? 1
                    : dropout_multiplier(shape_.dropout, first_key(), key, head, static_cast<int64_t>(j));
    }
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      p[j] /= sum;
      for (int64_t c = first; c < first + width; ++c) {
        result.out(row, c) += p[j] * kept[j] * (*v_)(key_row, c);
        result.dv(key_row, c) += p[j] * kept[j] * (*dout_)(row, c);
        dp[j] += kept[j] * (*dout_)(row, c) * (*v_)(key_row, c);
      }
      sum_dp += dp[j] * p[j];
    }
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t key_row = keys.begin + static_cast<int64_t>(j);
      const double ds = p[j] * (dp[j] - sum_dp) * scale;
      for (int64_t c = first; c < first + width; ++c) {
        result.dq(row, c) += ds * (*k_)(key_row, c);
        result.dk(key_row, c) += ds * (*q_)(row, c);
      }
    }
  }

  Result expected(const Tokens& queries) {
    Result result = {Doubles(q_->rows, q_->columns), Doubles(q_->rows, q_->columns),
                     Doubles(k_->rows, k_->columns), Doubles(k_->rows, k_->columns)};
    for (size_t s = 0; s < shape_.keys.size(); ++s) {
      const Span span = queries.spans.spans.values()[s], keys = shape_.keys[s];
      for (int32_t i = 0; i < span.length; ++i) {
        const int64_t visible = shape_.causal ? keys.length - span.length + i + 1 : keys.length;
        const RowKey key = queries.rows.values()[static_cast<size_t>(span.begin + i)];
        for (int64_t h = 0; h < shape_.heads; ++h) attend(span.begin + i, keys, visible, h, key, result);
      }
    }
    return result;
  }

  void check(const Shape& shape) {
    shape_ = shape;
    int64_t key_rows = 1;
    for (const Span& span : shape.keys) key_rows = std::max<int64_t>(key_rows, span.begin + span.length + 1);
    const int64_t d = shape.heads * shape.width;
    const Tokens queries = tokens(shape.queries);
    const Spans keys(device_.pool, shape.keys);
    const Tensor q = random(queries.count(), d, 3), k = random(key_rows, d), v = random(key_rows, d);
    Pass pass = training();
    const Tensor out = attention(pass, q, k, v,
                                 {.queries = &queries.spans,
                                  .keys = &keys,
                                  .query_rows = &queries.rows,
                                  .heads = shape.heads,
                                  .causal = shape.causal,
                                  .dropout = shape.dropout});
    const Doubles q_values(q), k_values(k), v_values(v), out_gradient = give_gradient(out);
    q_ = &q_values;
    k_ = &k_values;
    v_ = &v_values;
    dout_ = &out_gradient;
    tape_.backward();
    const Result wanted = expected(queries);
    expect_near(out, wanted.out, 2e-6, "output");
    expect_near(q.gradient(), wanted.dq, 1e-5, "gradient of q");
    expect_near(k.gradient(), wanted.dk, 1e-5, "gradient of k");
    expect_near(v.gradient(), wanted.dv, 1e-5, "gradient of v");
  }

  Shape shape_;
  const Doubles *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *dout_ = nullptr;
};

TEST_P(Attention, OfASentenceToItself) { check({{4, 1, 9}, {{0, 4}, {4, 1}, {5, 9}}, 3, 5, false, 0}); }

TEST_P(Attention, Causal) { check({{4, 1, 9}, {{0, 4}, {4, 1}, {5, 9}}, 2, 7, true, 0}); }

TEST_P(Attention, ToAnotherSentence) { check({{4, 1, 9}, {{7, 2}, {0, 6}, {10, 1}}, 2, 8, false, 0}); }

TEST_P(Attention, TheLastOfMoreKeys) { check({{1, 3, 2}, {{20, 5}, {0, 9}, {11, 2}}, 2, 3, true, 0}); }

TEST_P(Attention, WithDropout) { check({{4, 1, 70}, {{0, 4}, {4, 1}, {5, 70}}, 3, 5, true, 0.3F}); }

TEST_P(Attention, WithDropoutOfManyKeys) { check({{2, 85}, {{3, 200}, {210, 90}}, 2, 6, false, 0.1F}); }

// Scores of ±1000 neither overflow nor lose the largest.
TEST_P(Attention, LargeScores) {
  const Tokens queries = tokens({2});
  const Spans keys(device_.pool, std::vector<Span>{{0, 3}});
  const Tensor q = random(2, 1), k = random(3, 1), v = random(3, 1);
  q.data()[0] = 1000;
  q.data()[1] = -1000;
  for (int j = 0; j < 3; ++j) k.data()[j] = static_cast<float>(j);
  Pass pass{device_};
  const Tensor out = attention(pass, q, k, v, {.queries = &queries.spans, .keys = &keys});
  EXPECT_EQ(out.data()[0], v.data()[2]);
  EXPECT_EQ(out.data()[1], v.data()[0]);
}

INSTANTIATE_TEST_SUITE_P(On, Attention, testing::ValuesIn(every_instruction_set()), kernels_name);

}  // namespace
}  // namespace dragoman
