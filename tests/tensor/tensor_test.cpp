// Handles, views and gradients.
#include "tensor/tensor.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

void fill(Matrix m, float value) {
  for (int64_t r = 0; r < m.rows; ++r) std::fill_n(m.data + r * m.stride, m.columns, value);
}

TEST(Tensor, ItsMemoryLivesAsLongAsAnyHandle) {
  Pool pool;
  Tensor view;
  {
    const Tensor tensor(pool, 5, 7);
    const Tensor copy = tensor;
    view = copy.column_range(2, 3);
  }
  EXPECT_EQ(pool.in_use(), 192U);  // 35 floats, in lines of 64 bytes
  view.gradient_sum();
  EXPECT_EQ(pool.in_use(), 2 * 192U);
  view = Tensor();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(Tensor, MovesAndSelfAssignmentKeepTheCount) {
  Pool pool;
  Tensor a(pool, 2, 2);
  Tensor b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT: what a moved-from handle is, is part of the contract
  const Tensor& same = b;
  b = same;
  EXPECT_TRUE(b);
  EXPECT_GT(pool.in_use(), 0U);
  b = Tensor(pool, 1, 1);
  EXPECT_EQ(pool.in_use(), 64U);
}

TEST(Tensor, ViewsOfColumnsAndRows) {
  Pool pool;
  const Tensor tensor(pool, 4, 6);
  for (int64_t i = 0; i < 24; ++i) tensor.data()[i] = static_cast<float>(i);
  const Tensor part = tensor.row_range(1, 2).column_range(2, 3);
  EXPECT_EQ(part.rows(), 2);
  EXPECT_EQ(part.columns(), 3);
  EXPECT_EQ(part.matrix().stride, 6);
  EXPECT_EQ(part.data()[0], 8);
  EXPECT_EQ(part.data()[6 + 2], 16);
  EXPECT_THROW(tensor.column_range(4, 3), BrokenInvariant);
  EXPECT_THROW(tensor.row_range(-1, 2), BrokenInvariant);
  EXPECT_THROW(tensor.row_range(4, 1), BrokenInvariant);
}

TEST(Gradient, TheFirstTargetIsWrittenTheNextAddedTo) {
  Pool pool;
  const Tensor tensor(pool, 3, 4);
  EXPECT_FALSE(tensor.has_gradient());
  EXPECT_THROW(tensor.gradient(), BrokenInvariant);
  const auto first = tensor.gradient_target();
  EXPECT_FALSE(first.accumulate);
  const auto second = tensor.gradient_target();
  EXPECT_TRUE(second.accumulate);
  EXPECT_EQ(first.matrix.data, second.matrix.data);
}

TEST(Gradient, StaysWhereTheValuesGo) {
  Pool pool;
  const Tensor tensor(pool, 2, 3), other = tensor;
  fill(tensor.gradient_target().matrix, 4);
  tensor.drop_values();
  EXPECT_EQ(pool.in_use(), 64U);
  EXPECT_EQ(other.data(), nullptr);
  EXPECT_EQ(other.gradient().data[5], 4);
  EXPECT_THROW(other.drop_values(), BrokenInvariant);
  tensor.renew_values();
  EXPECT_EQ(pool.in_use(), 2 * 64U);
  fill(other.matrix(), 1);
  EXPECT_EQ(other.gradient().data[5], 4);
  EXPECT_THROW(tensor.renew_values(), BrokenInvariant);
}

// A view cannot be written alone: the rest of the gradient would stay undefined.
TEST(Gradient, OfAViewIsAddedToZeros) {
  Pool pool;
  const Block dirt = pool.allocate(12 * sizeof(float));
  std::fill_n(static_cast<float*>(dirt.data), 12, 7.0F);
  const Tensor tensor(pool, 3, 4);
  pool.free(dirt);
  const auto target = tensor.column_range(1, 2).gradient_target();
  EXPECT_TRUE(target.accumulate);
  fill(target.matrix, 5);
  const Matrix whole = tensor.gradient();
  for (int64_t r = 0; r < 3; ++r) {
    EXPECT_EQ(whole.data[4 * r], 0);
    EXPECT_EQ(whole.data[4 * r + 1], 5);
    EXPECT_EQ(whole.data[4 * r + 2], 5);
    EXPECT_EQ(whole.data[4 * r + 3], 0);
  }
}

TEST(Gradient, OfViewsIsMadeWhereTheyAreAllOfTheirTensors) {
  Pool pool;
  const Tensor one(pool, 3, 2), two(pool, 3, 4);
  const Tensor left = two.column_range(0, 2), right = two.column_range(2, 2);
  EXPECT_FALSE(Tensor::make_gradients({one, left}));
  EXPECT_FALSE(Tensor::make_gradients({one, one}));
  EXPECT_FALSE(one.has_gradient() || two.has_gradient());
  EXPECT_TRUE(Tensor::make_gradients({one, left, right}));
  EXPECT_TRUE(one.has_gradient() && two.has_gradient());
  EXPECT_FALSE(Tensor::make_gradients({left, right})) << "it holds something now";
}

TEST(Gradient, IsTakenOverOnlyWhole) {
  Pool pool;
  const Tensor from(pool, 2, 3), to(pool, 2, 3), narrow(pool, 3, 2), wide(pool, 2, 6);
  fill(from.gradient_target().matrix, 9);
  const float* memory = from.gradient().data;
  EXPECT_FALSE(narrow.take_gradient_of(from));
  EXPECT_FALSE(wide.column_range(0, 3).take_gradient_of(from));
  EXPECT_TRUE(to.take_gradient_of(from));
  EXPECT_EQ(to.gradient().data, memory);
  EXPECT_EQ(to.gradient().data[5], 9);
  EXPECT_FALSE(from.has_gradient());
  fill(from.gradient_target().matrix, 1);
  EXPECT_FALSE(to.take_gradient_of(from)) << "it has one of its own";
}

TEST(Gradient, AParameterForInferenceHasNone) {
  Pool pool;
  const Tensor parameter = Tensor::parameter(pool, 2, 2);
  EXPECT_THROW(parameter.gradient_sum(), BrokenInvariant);
}

}  // namespace
}  // namespace dragoman::internal
