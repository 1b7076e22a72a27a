#include <cmath>
#include <limits>

#include "convert/files/tensors.h"
#include "fixtures.h"

namespace dragoman::internal {
namespace {

constexpr int64_t huge = std::numeric_limits<int64_t>::max();

template <class T>
ForeignTensor tensor_of(ElementType type, const std::vector<T>& values, std::vector<int64_t> shape,
                        std::vector<int64_t> strides) {
  return {type, std::move(shape), std::move(strides), std::as_bytes(std::span(values)), nullptr};
}

TEST(ForeignTensors, StridesGiveTheOrder) {
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  EXPECT_EQ(to_floats(tensor_of(ElementType::f32, values, {2, 2, 3}, {6, 3, 1})), values);
  EXPECT_EQ(to_floats(tensor_of(ElementType::f32, values, {3, 2, 2}, {1, 6, 3})),
            (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(to_floats(tensor_of(ElementType::f32, values, {2, 2}, {8, 3})),
            (std::vector<float>{0, 3, 8, 11}));
  EXPECT_EQ(to_floats(tensor_of(ElementType::f32, values, {}, {})), std::vector<float>{0});
  EXPECT_TRUE(to_floats(tensor_of(ElementType::f32, values, {3, 0}, {0, 1})).empty());
}

TEST(ForeignTensors, AreReadFromAnyAddress) {
  std::vector<char> bytes(9);
  const float values[] = {1.5, -2};
  std::memcpy(bytes.data() + 1, values, sizeof values);
  const ForeignTensor tensor = {
      ElementType::f32, {2}, {1}, std::as_bytes(std::span(bytes)).subspan(1), nullptr};
  EXPECT_EQ(to_floats(tensor), (std::vector<float>{1.5, -2}));
}

TEST(ForeignTensors, EveryHalfIsConvertedExactly) {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  const std::vector<float> values = to_floats(tensor_of(ElementType::f16, bits, {1 << 16}, {1}));
  for (int i = 0; i < 1 << 16; ++i) {
    const int exponent = i >> 10 & 31, fraction = i & 1023;
    const double size = exponent == 0   ? std::ldexp(fraction, -24)
                        : exponent < 31 ? std::ldexp(1024 + fraction, exponent - 25)
                        : fraction == 0 ? INFINITY
                                        : NAN;
    const float value = values[static_cast<size_t>(i)];
    if (std::isnan(size))
      EXPECT_TRUE(std::isnan(value)) << i;
    else
      EXPECT_EQ(std::abs(value), size) << i;
    EXPECT_EQ(std::signbit(value), i >= 1 << 15) << i;
  }
}

TEST(ForeignTensors, ViewsAreThePartsThatTheySay) {
  const ForeignTensor matrix = from_floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 3});
  EXPECT_EQ(to_floats(transposed(matrix)), (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(to_floats(rows_of(matrix, 1, 2)), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(to_floats(rows_of(transposed(matrix), 2, 1)), (std::vector<float>{2, 5, 8, 11}));
  EXPECT_EQ(to_floats(as_row(from_floats({1, 2}, {2}))), (std::vector<float>{1, 2}));
  EXPECT_EQ(as_row(from_floats({1, 2}, {2})).shape, (std::vector<int64_t>{1, 2}));
}

TEST(ForeignTensors, IntegersAreDividedByTheirScales) {
  const std::vector<int8_t> bytes = {8, 4, -8, 127, 0, 16};
  ForeignTensor matrix = tensor_of(ElementType::i8, bytes, {2, 3}, {3, 1});
  matrix.scales = {4};
  EXPECT_EQ(to_floats(matrix), (std::vector<float>{2, 1, -2, 31.75, 0, 4}));
  matrix.scales = {4, 2};
  const std::vector<float> by_row = {2, 1, -2, 63.5, 0, 8};
  EXPECT_EQ(to_floats(matrix), by_row);
  EXPECT_EQ(to_floats(rows_of(matrix, 1, 1)), (std::vector<float>{63.5, 0, 8}));
  EXPECT_EQ(to_floats(transposed(matrix)), (std::vector<float>{2, 63.5, 1, 0, -2, 8}));
  EXPECT_EQ(to_floats(rows_of(transposed(matrix), 2, 1)), (std::vector<float>{-2, 8}));
  const std::vector<int16_t> shorts = {1000, -500};
  ForeignTensor row = tensor_of(ElementType::i16, shorts, {2}, {1});
  row.scales = {1000};
  EXPECT_EQ(to_floats(as_row(row)), (std::vector<float>{1, -0.5}));
}

TEST(ForeignTensors, WhatIsNoFloatIsRefused) {
  const std::vector<int8_t> values = {1, 2};
  const std::string error = error_of([&] { to_floats(tensor_of(ElementType::i8, values, {1, 2}, {2, 1})); });
  EXPECT_NE(error.find("i8 [1, 2]"), std::string::npos) << error;
}

TEST(ForeignTensors, RepeatedElementsAreRefusedBeforeTheyFillTheMemory) {
  const std::vector<float> values = {1};
  EXPECT_NE(error_of([&] { to_floats(tensor_of(ElementType::f32, values, {huge, huge}, {0, 0})); }), "");
  EXPECT_NE(error_of([&] { to_floats(tensor_of(ElementType::f32, values, {2}, {0})); }), "");
}

TEST(ForeignTensors, SizesThatOverflowAreNotSizes) {
  EXPECT_EQ(extent({2, 3}, {3, 1}), 6);
  EXPECT_EQ(extent({}, {}), 1);
  EXPECT_EQ(extent({2, 0}, {huge, 1}), 0);
  EXPECT_EQ(extent({2}, {1, 1}), std::nullopt);
  EXPECT_EQ(extent({-1}, {1}), std::nullopt);
  EXPECT_EQ(extent({2}, {-1}), std::nullopt);
  EXPECT_EQ(extent({huge}, {2}), std::nullopt);
  EXPECT_EQ(extent({2, 2}, {huge, 1}), std::nullopt);
  EXPECT_EQ(extent({2}, {huge}), std::nullopt);
  EXPECT_EQ(bytes_of(ElementType::f32, {2, 3}), 24U);
  EXPECT_EQ(bytes_of(ElementType::f32, {2, 0, 4}), 0U);
  EXPECT_EQ(bytes_of(ElementType::f32, {2, huge}), std::nullopt);
  EXPECT_EQ(bytes_of(ElementType::f64, {huge}), std::nullopt);
  EXPECT_EQ(bytes_of(ElementType::f32, {0, huge, huge}), std::nullopt);
  EXPECT_EQ(bytes_of(ElementType::f32, {-2}), std::nullopt);
  const std::vector<float> values(6);
  const auto bytes = std::as_bytes(std::span(values));
  EXPECT_TRUE(row_by_row(ElementType::f32, {2, 3}, bytes, nullptr));
  EXPECT_FALSE(row_by_row(ElementType::f32, {2, 2}, bytes, nullptr));
  EXPECT_FALSE(row_by_row(ElementType::f32, {6}, bytes.subspan(1), nullptr));
  EXPECT_FALSE(row_by_row(ElementType::f32, {huge, huge}, bytes, nullptr));
}

}  // namespace
}  // namespace dragoman::internal
