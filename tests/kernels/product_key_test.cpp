// What an algorithm of a product is chosen for: never what differs between rows, always what does not.
#include "kernels/cuda/gpu/product_key.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

// Stands for operands, which is never read: as aligned as a pool's.
alignas(64) float operands[1 << 16];

Matmul product(int64_t rows, int64_t inner, int64_t columns) {
  return {
      .arithmetic = Arithmetic::fp32,
      .a = {operands, rows, inner, inner, false},
      .b = {operands, inner, columns, columns, false},
      .c = {operands, rows, columns, columns},
  };
}

Matmul weight_gradient(int64_t rows, int64_t inner, int64_t columns) {
  Matmul gradient = product(rows, inner, columns);
  gradient.a = {operands, inner, rows, rows, true};
  return gradient;
}

TEST(ProductKeyTest, SizesAreOfWhatIsMultiplied) {
  Matmul m = product(3, 5, 7);
  m.b = {operands, 7, 5, 5, true};
  EXPECT_EQ(rows_of(m), 3);
  EXPECT_EQ(inner_of(m), 5);
  EXPECT_EQ(columns_of(m), 7);
  m = weight_gradient(3, 5, 7);
  EXPECT_EQ(rows_of(m), 3);
  EXPECT_EQ(inner_of(m), 5);
  EXPECT_EQ(columns_of(m), 7);
}

TEST(ProductKeyTest, TheNumberOfRowsChangesNothing) {
  for (const int64_t columns : {512, 500, 7})
    for (const int64_t rows : {1, 2, 63, 64, 4096, 100000})
      EXPECT_EQ(key_of(product(rows, 512, columns)), key_of(product(17, 512, columns)));
}

TEST(ProductKeyTest, TheFirstRowsPlaceChangesNothing) {
  for (const int64_t width : {512, 24, 20, 6, 5}) {
    const Matmul whole = product(64, width, width);
    for (int64_t first = 0; first < 20; ++first) {
      Matmul part = whole;
      part.a.data = operands + first * width;
      part.c.data = operands + first * width;
      EXPECT_EQ(key_of(part), key_of(whole)) << width << " columns from row " << first;
    }
  }
}

TEST(ProductKeyTest, AlignmentIsThatOfEveryRow) {
  Matmul m = product(4, 512, 22);
  EXPECT_EQ(key_of(m).a_alignment, 16);  // and no more: other rows with as much must have the same key
  EXPECT_EQ(key_of(m).c_alignment, 8);
  m.c.data = operands + 1;  // a view from the second column on
  EXPECT_EQ(key_of(m).c_alignment, 4);
  m.a.stride = 513;
  EXPECT_EQ(key_of(m).a_alignment, 4);
  m.arithmetic = Arithmetic::bf16;
  EXPECT_EQ(key_of(m).a_alignment, 2);
  EXPECT_EQ(key_of(m).b_alignment, 4);
  m.bias = operands + 1;
  EXPECT_EQ(key_of(m).bias_alignment, 4);
}

TEST(ProductKeyTest, AllElseIsPartOfIt) {
  const ProductKey key = key_of(product(8, 512, 256));
  EXPECT_NE(key_of(product(8, 511, 256)), key);
  EXPECT_NE(key_of(product(8, 512, 255)), key);
  for (const Arithmetic arithmetic : {Arithmetic::tf32, Arithmetic::bf16}) {
    Matmul m = product(8, 512, 256);
    m.arithmetic = arithmetic;
    EXPECT_NE(key_of(m), key);
  }
  Matmul m = product(8, 512, 256);
  m.accumulate = true;
  EXPECT_NE(key_of(m), key);
  m = product(8, 512, 256);
  m.relu = true;
  EXPECT_NE(key_of(m), key);
  m = product(8, 512, 256);
  m.bias = operands;
  EXPECT_NE(key_of(m), key);
  m = product(8, 512, 256);
  m.b = {operands, 256, 512, 512, true};
  EXPECT_NE(key_of(m), key);
}

TEST(ProductKeyTest, AWeightsGradientDependsOnTheBatchByPowersOfTwo) {
  const ProductKey key = key_of(weight_gradient(512, 20000, 2048));
  EXPECT_EQ(key.rows, 512);
  EXPECT_EQ(key_of(weight_gradient(512, 25000, 2048)), key);
  EXPECT_NE(key_of(weight_gradient(512, 15000, 2048)), key);
  EXPECT_NE(key_of(weight_gradient(256, 20000, 2048)), key);
}

TEST(ProductKeyTest, AUsualStrideIsAlignedAsWantedAndNoBetter) {
  for (const int64_t columns : {1, 5, 16, 500, 512}) {
    for (int alignment = 4; alignment <= 16; alignment *= 2) {
      const int64_t bytes = usual_stride(columns, 4, alignment) * 4;
      EXPECT_GE(bytes, columns * 4);
      EXPECT_EQ(bytes % alignment, 0);
      EXPECT_TRUE(alignment == 16 || bytes % (2 * alignment) != 0) << columns << ", " << alignment;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
