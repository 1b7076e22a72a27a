// What cuBLASLt is asked for: the product that was meant, by an algorithm that no number of rows changes.
#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "gpu/fake_gpu.h"
#include "kernels/cuda/gpu/gpu.h"
#include "kernels/cuda/gpu/matmul.h"
#include "kernels/nearest_bf16.h"

namespace dragoman::internal {
namespace {

class ProductsTest : public testing::Test {
 protected:
  ProductsTest() {
    report_failures();
    reset_fake_gpu();
  }
  ~ProductsTest() override { reset_fake_gpu(); }

  Products products{Gpu::of(0)};
};

// What the fake makes of a number in bf16: its upper half.
uint16_t to_bf16(float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); }

// A matrix as it stands in memory, with a few columns more than are used; its numbers are exact in bf16.
struct Stored {
  int64_t rows, columns, stride;
  std::vector<float> values;
  std::vector<uint16_t> rounded;

  Stored(int64_t rows_, int64_t columns_, uint64_t seed)
      : rows(rows_), columns(columns_), stride(columns_ + 3), values(static_cast<size_t>(rows * stride)) {
    Random random(seed);
    for (float& v : values) v = static_cast<float>(static_cast<int>(random.uniform(-16, 16))) / 8;
    for (const float v : values) rounded.push_back(to_bf16(v));
  }

  void take_rounded() { std::ranges::transform(rounded, values.begin(), float_of_bf16); }

  float at(int64_t row, int64_t column) const { return values[static_cast<size_t>(row * stride + column)]; }

  MatmulOperand operand(Arithmetic arithmetic, bool transposed) const {
    const void* const data =
        arithmetic == Arithmetic::bf16 ? static_cast<const void*>(rounded.data()) : values.data();
    return {data, rows, columns, stride, transposed};
  }
};

struct Case {
  Arithmetic arithmetic;
  bool a_transposed, b_transposed, accumulate, bias, relu, in_bf16 = false;
};

void check_product(Products& products, const Case& c) {
  constexpr int64_t m = 5, k = 6, n = 7;
  const Stored a = c.a_transposed ? Stored(k, m, 1) : Stored(m, k, 1);
  const Stored b = c.b_transposed ? Stored(n, k, 2) : Stored(k, n, 2);
  const Stored before(m, n, 3), bias(1, n, 4);
  Stored out = before;
  const void* bias_values = c.in_bf16 ? static_cast<const void*>(bias.rounded.data()) : bias.values.data();
  products.multiply({
      .arithmetic = c.arithmetic,
      .a = a.operand(c.arithmetic, c.a_transposed),
      .b = b.operand(c.arithmetic, c.b_transposed),
      .c = {c.in_bf16 ? nullptr : out.values.data(), m, n, out.stride,
            c.in_bf16 ? out.rounded.data() : nullptr},
      .accumulate = c.accumulate,
      .bias = c.bias ? bias_values : nullptr,
      .relu = c.relu,
  });
  fake_gpu().run_all();
  if (c.in_bf16) out.take_rounded();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < out.stride; ++j) {
      float wanted = before.at(i, j);
      if (j < n) {
        if (!c.accumulate) wanted = 0;
        for (int64_t l = 0; l < k; ++l)
          wanted += (c.a_transposed ? a.at(l, i) : a.at(i, l)) * (c.b_transposed ? b.at(j, l) : b.at(l, j));
        if (c.bias) wanted += bias.at(0, j);
        if (c.relu) wanted = std::max(wanted, 0.0F);
      }
      if (c.in_bf16) {
        ASSERT_EQ(to_bf16(out.at(i, j)), to_bf16(wanted)) << i << ", " << j;
      } else {
        ASSERT_EQ(out.at(i, j), wanted) << i << ", " << j;
      }
    }
  }
}

TEST_F(ProductsTest, AreThoseThatWereMeant) {
  for (const Arithmetic arithmetic : {Arithmetic::fp32, Arithmetic::tf32, Arithmetic::bf16}) {
    for (int bits = 0; bits < 64; ++bits) {
      const auto bit = [&](int which) { return (bits >> which & 1) != 0; };
      SCOPED_TRACE(bits);
      check_product(products, {arithmetic, bit(0), bit(1), bit(2), bit(3), bit(4), bit(5)});
      EXPECT_EQ(fake_gpu().questions.back().product.computing,
                arithmetic == Arithmetic::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
    }
  }
}

// The fake heuristic has better ones that split the sum or want a workspace.
TEST_F(ProductsTest, TakeNoAlgorithmThatSplitsTheSum) {
  check_product(products, {Arithmetic::fp32, false, false, false, false, false});
  EXPECT_EQ(fake_gpu().algorithms, std::vector<int>{3});
  EXPECT_EQ(fake_gpu().questions[0].reductions, static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_NONE));
  fake_gpu().only_splits = true;
  Products others(Gpu::of(0));
  const std::string failure = failure_of([&] {
    check_product(others, {Arithmetic::bf16, false, false, false, false, false});
  });
  EXPECT_EQ(failure,
            "cuBLASLt has no algorithm on cuda:0 (Fake) for a product of 4096 x 6 and 6 x 7 in bf16");
}

// The best one refuses few rows, so that it cannot be that of many, either.
TEST_F(ProductsTest, TakeAnAlgorithmThatComputesFewRowsToo) {
  fake_gpu().refused_rows[1] = 2;
  std::vector<float> memory(1 << 12);
  const auto multiply = [&](int64_t rows, int64_t inner) {
    products.multiply({.arithmetic = Arithmetic::fp32,
                       .a = {memory.data(), rows, inner, 16, false},
                       .b = {memory.data(), inner, 32, 32, false},
                       .c = {memory.data(), rows, 32, 32}});
  };
  multiply(40, 16);
  multiply(2, 16);
  fake_gpu().refused_rows[0] = 2;
  multiply(40, 8);  // no algorithm takes few: the first one, where it takes these
  fake_gpu().run_all();
  EXPECT_EQ(fake_gpu().algorithms, (std::vector<int>{2, 2, 2}));
  EXPECT_NE(failure_of([&] { multiply(2, 8); }).find("a product of 2 x 8 and 8 x 32 in fp32"),
            std::string::npos);
}

TEST_F(ProductsTest, AWeightsGradientMayTakeOneThatAddsPartsInTheirOrder) {
  check_product(products, {Arithmetic::fp32, true, false, true, false, false});
  EXPECT_EQ(fake_gpu().algorithms, std::vector<int>{4});
  EXPECT_EQ(fake_gpu().questions[0].reductions,
            static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
}

TEST_F(ProductsTest, AskOnceWhateverTheNumberOfRows) {
  std::vector<float> memory(1 << 16);
  const auto multiply = [&](int64_t rows, int64_t first) {
    products.multiply({.arithmetic = Arithmetic::fp32,
                       .a = {memory.data() + first * 22, rows, 22, 22, false},
                       .b = {memory.data(), 22, 40, 40, false},
                       .c = {memory.data() + first * 40, rows, 40, 40}});
  };
  for (const int64_t rows : {1, 7, 64, 1000}) multiply(rows, rows % 5);
  fake_gpu().run_all();
  ASSERT_EQ(fake_gpu().questions.size(), 1u);
  const FakeQuestion& question = fake_gpu().questions[0];
  EXPECT_EQ(question.c.columns, static_cast<uint64_t>(usual_rows));
  EXPECT_EQ(question.b.columns, static_cast<uint64_t>(usual_rows));
  EXPECT_EQ(question.a.rows, 40u);
  EXPECT_EQ(question.b_alignment, 8u);  // 22 floats a row
  EXPECT_EQ(question.b.stride * 4 % 16, 8);
}

TEST_F(ProductsTest, OverNothingAreZeroOrWhatWasThere) {
  std::vector<float> c(12, 7);
  Matmul product = {.arithmetic = Arithmetic::fp32,
                    .a = {c.data(), 2, 0, 1, false},
                    .b = {c.data(), 0, 3, 3, false},
                    .c = {c.data(), 2, 3, 6},
                    .accumulate = true};
  products.multiply(product);
  fake_gpu().run_all();
  EXPECT_EQ(c, std::vector<float>(12, 7));
  product.accumulate = false;
  products.multiply(product);
  fake_gpu().run_all();
  EXPECT_EQ(c, (std::vector<float>{0, 0, 0, 7, 7, 7, 0, 0, 0, 7, 7, 7}));
  product.relu = true;
  EXPECT_NE(failure_of([&] { products.multiply(product); }), "");
  product.c.rows = product.a.rows = 0;
  products.multiply(product);
}

}  // namespace
}  // namespace dragoman::internal
