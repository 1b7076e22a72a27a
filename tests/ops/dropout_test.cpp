// Dropout of every op that has it: its rate, its scale, and that masks of different things have nothing in common.
#include "ops/reference.h"

namespace dragoman::internal {
namespace {

constexpr double sigmas = 5;

// Each op where what it drops is one everywhere: it gives back its multipliers, a row for each token.
struct Dropping {
  const char* name;
  Tensor (*run)(Pass& pass, Pool& pool, const Tokens& tokens, float rate);
};
void PrintTo(const Dropping& op, std::ostream* out) { *out << op.name; }

Tensor filled(Pool& pool, int64_t rows, int64_t columns, float value) {
  Tensor tensor(pool, rows, columns);
  std::fill_n(tensor.data(), rows * columns, value);
  return tensor;
}

constexpr int64_t row_width = 128;

const Dropping droppings[] = {
    {"embed",
     [](Pass& pass, Pool& pool, const Tokens& tokens, float rate) {
       return embed(pass, tokens, filled(pool, 1, row_width, 0.5F),
                    filled(pool, tokens.positions, row_width, 0), {.scale = 2, .dropout = rate});
     }},
    {"dropout",
     [](Pass& pass, Pool& pool, const Tokens& tokens, float rate) {
       return dropout(pass, filled(pool, tokens.count(), row_width, 1), rate, tokens.rows);
     }},
    {"add_dropout_norm",
     [](Pass& pass, Pool& pool, const Tokens& tokens, float rate) {
       const Tensor residual = filled(pool, tokens.count(), row_width, 0),
                    branch = filled(pool, tokens.count(), row_width, 1);
       const Tensor gain = filled(pool, 1, row_width, 1), bias = filled(pool, 1, row_width, 0);
       return add_dropout_norm(pass, residual, branch, rate, tokens.rows, gain, bias, 1e-6F).sum;
     }},
    {"linear",
     [](Pass& pass, Pool& pool, const Tokens& tokens, float rate) {
       return linear(pass, filled(pool, tokens.count(), 1, 1), filled(pool, 1, row_width, 1), Tensor(),
                     {.activation = Activation::relu, .dropout = rate, .rows = &tokens.rows});
     }},
    // Every key is as probable as any other, and its value is a column of its own.
    {"attention",
     [](Pass& pass, Pool& pool, const Tokens& tokens, float rate) {
       const Tensor q = filled(pool, tokens.count(), row_width, 0), k = filled(pool, row_width, row_width, 0);
       const Tensor v = filled(pool, row_width, row_width, 0);
       for (int64_t i = 0; i < row_width; ++i) v.data()[i * row_width + i] = static_cast<float>(row_width);
       const std::vector<Span> all(static_cast<size_t>(tokens.spans.count()), Span{0, row_width});
       const Spans keys(pool, all);
       return attention(
           pass, q, k, v,
           {.queries = &tokens.spans, .keys = &keys, .query_rows = &tokens.rows, .dropout = rate});
     }},
};

class Masks : public testing::TestWithParam<Dropping> {
 protected:
  struct Of {
    uint64_t seed = 1, update = 1, pair = 0;
    uint32_t op = 0, position = 0;
  };

  std::vector<float> mask(const Of& of, float rate, int32_t tokens = 1) {
    const std::vector<int32_t> ids(static_cast<size_t>(tokens)), lengths = {tokens};
    const Tokens rows = pack_tokens(device_, ids, lengths, std::vector{of.pair},
                                    std::vector{static_cast<int32_t>(of.position)});
    Tape tape;
    Pass pass = {.device = device_, .tape = &tape, .seed = of.seed, .update = of.update, .ops = of.op};
    const Tensor out = GetParam().run(pass, device_.pool, rows, rate);
    tape.clear();
    return {out.data(), out.data() + out.rows() * out.columns()};
  }

  Device device_{kernels_for(nullptr), 2};
};

TEST_P(Masks, KeepTheRateAndTheMean) {
  for (const float rate : {0.05F, 0.1F, 0.3F, 0.5F, 0.9F}) {
    const auto values = mask({}, rate, 200);
    const double n = static_cast<double>(values.size()), p = double{rate};
    double dropped = 0;
    for (const float v : values) {
      dropped += v == 0 ? 1 : 0;
      ASSERT_TRUE(v == 0 || std::abs(v * (1 - p) - 1) < 1e-4) << v;  // the rate has 16 bits
    }
    EXPECT_NEAR(dropped / n, p, sigmas * std::sqrt(p * (1 - p) / n)) << "dropout " << rate;
  }
}

TEST_P(Masks, EachColumnKeepsTheRate) {
  constexpr int32_t tokens = 400;
  const auto values = mask({}, 0.25F, tokens);
  for (int64_t c = 0; c < row_width; ++c) {
    double dropped = 0;
    for (int64_t r = 0; r < tokens; ++r)
      dropped += values[static_cast<size_t>(r * row_width + c)] == 0 ? 1 : 0;
    ASSERT_NEAR(dropped, tokens * 0.25, sigmas * std::sqrt(tokens * 0.25 * 0.75)) << "column " << c;
  }
}

// Half is dropped: two masks that have nothing in common agree in half of their places.
TEST_P(Masks, OfDifferentThingsAreIndependent) {
  const Of base = {.seed = 1, .update = 1, .pair = 7, .op = 3, .position = 5};
  std::vector<Of> all(8, base);
  all[1].seed = 2;
  all[2].update = 2;
  all[3].pair = 8;
  all[4].pair = base.pair + (uint64_t{1} << 32);
  all[5].op = 4;
  all[6].position = 6;
  all[7].update = 3;
  std::vector<std::vector<float>> masks;
  for (const Of& of : all) masks.push_back(mask(of, 0.5F));
  EXPECT_EQ(masks[0], mask(base, 0.5F)) << "the same thing has the same mask";
  for (size_t a = 0; a < masks.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      double agree = 0;
      for (size_t i = 0; i < row_width; ++i) agree += masks[a][i] == masks[b][i] ? 1 : 0;
      EXPECT_NEAR(agree, row_width / 2.0, sigmas * std::sqrt(row_width / 4.0))
          << "masks " << a << " and " << b;
    }
  }
}

// Tokens later in a sentence have the masks that they would have alone.
TEST_P(Masks, BelongToTheirTokens) {
  const auto whole = mask({.pair = 3}, 0.4F, 9);
  for (uint32_t t = 0; t < 9; ++t) {
    const auto one = mask({.pair = 3, .position = t}, 0.4F);
    EXPECT_TRUE(same_bits(one, std::span(whole).subspan(t * row_width, row_width))) << "token " << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Masks, testing::ValuesIn(droppings),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace dragoman::internal
