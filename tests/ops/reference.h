// What the references of this folder share: matrices of doubles, and dropout's masks drawn one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/cases.h"
#include "testing.h"

namespace dragoman::internal {

struct Doubles {
  int64_t rows, columns;
  std::vector<double> values;

  Doubles(int64_t rows_, int64_t columns_)
      : rows(rows_), columns(columns_), values(static_cast<size_t>(rows * columns)) {}
  explicit Doubles(ConstMatrix m) : Doubles(m.rows, m.columns) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) (*this)(r, c) = double{m.data[r * m.row_stride + c]};
    }
  }
  double& operator()(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double operator()(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
};

// Each element within `tolerance` of the largest.
inline void expect_near(ConstMatrix got, const Doubles& wanted, double tolerance, const char* what) {
  ASSERT_EQ(got.rows, wanted.rows) << what;
  ASSERT_EQ(got.columns, wanted.columns) << what;
  double largest = 1e-3;
  for (const double v : wanted.values) largest = std::max(largest, std::abs(v));
  for (int64_t r = 0; r < got.rows; ++r) {
    for (int64_t c = 0; c < got.columns; ++c) {
      ASSERT_NEAR(got.data[r * got.row_stride + c], wanted(r, c), tolerance * largest)
          << what << ", row " << r << ", column " << c;
    }
  }
}

// What dropout multiplies an element by: the masks' definition, with the generator of base/random.h. Columns are
// taken in blocks of 64: column 64b + 32p + 16h + 2l + i is half h of word 2p + i of counter 8b + l.
inline double dropout_multiplier(float rate, uint64_t key, RowKey row, int64_t head, int64_t column) {
  const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
  const uint64_t index = static_cast<uint64_t>(column / 64 * 8 + column % 16 / 2);
  const auto words = philox(
      {low(index), row.position, low(row.pair), low(row.pair >> 32) ^ low(static_cast<uint64_t>(head) << 16)},
      {low(key), low(key >> 32)});
  const uint32_t word = words[static_cast<size_t>(column % 64 / 32 * 2 + column % 2)];
  const auto threshold = static_cast<uint32_t>(double{rate} * 0x1p16);
  const bool dropped = (column % 32 < 16 ? word & 0xffff : word >> 16) < threshold;
  return dropped ? 0 : 0x1p16 / (0x1p16 - threshold);
}

// The key of the first dropout of a case's pass.
inline uint64_t first_key() { return mix(mix(7, uint64_t{3}), uint64_t{0}); }

class Reference : public testing::TestWithParam<const Kernels*> {
 protected:
  // A tensor of random numbers in ±size.
  Tensor random(int64_t rows, int64_t columns, double size = 1) {
    Tensor tensor(device_.pool, rows, columns);
    std::ranges::copy(random_floats(static_cast<size_t>(rows * columns), ++drawn_, -size, size),
                      tensor.data());
    return tensor;
  }
  // A parameter of random numbers whose gradient is zero.
  Tensor parameter(int64_t rows, int64_t columns, double size = 1) {
    memory_.push_back(random(rows, columns, size));
    memory_.push_back(Tensor(device_.pool, rows, columns));
    std::fill_n(memory_.back().data(), rows * columns, 0.0F);
    const Tensor tensor = Tensor::parameter(device_.pool, rows, columns);
    tensor.storage().data = memory_[memory_.size() - 2].data();
    tensor.storage().gradient = memory_.back().data();
    return tensor;
  }
  Tokens tokens(const std::vector<int32_t>& lengths, int32_t id = 0) {
    int64_t count = 0;
    std::vector<uint64_t> pairs;
    for (const int32_t length : lengths) {
      count += length;
      pairs.push_back((uint64_t{9} << 32) + pairs.size());
    }
    return pack_tokens(device_, std::vector<int32_t>(static_cast<size_t>(count), id), lengths, pairs);
  }
  // Random numbers as the gradient of an output.
  Doubles give_gradient(const Tensor& output) {
    const auto target = output.gradient_target();
    const Floats values = random_floats(static_cast<size_t>(output.rows() * output.columns()), ++drawn_);
    std::ranges::copy(values, target.matrix.data);
    return Doubles(target.matrix);
  }
  Pass training() { return case_pass(device_, tape_); }

  Device device_{*GetParam(), 2};
  std::vector<Tensor> memory_;
  Tape tape_;
  uint64_t drawn_ = 0;
};

}  // namespace dragoman::internal
