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
  Doubles(DeviceMemory& memory, ConstMatrix m) : Doubles(m.rows, m.columns) {
    std::ranges::copy(floats_of(memory, m), values.begin());
  }
  double& operator()(int64_t r, int64_t c) { return values[static_cast<size_t>(r * columns + c)]; }
  double operator()(int64_t r, int64_t c) const { return values[static_cast<size_t>(r * columns + c)]; }
};

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
    set(tensor.matrix(), random_floats(rows * columns, ++drawn_, -size, size));
    return tensor;
  }
  // A parameter of random numbers whose gradient is zero.
  Tensor parameter(int64_t rows, int64_t columns, double size = 1) {
    memory_.push_back(random(rows, columns, size));
    memory_.push_back(Tensor(device_.pool, rows, columns));
    fill(memory_.back().matrix(), 0);
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
    set(target.matrix, random_floats(output.rows() * output.columns(), ++drawn_));
    return doubles(target.matrix);
  }

  // The device's memory is reached by these alone: it need not be the host's. `whole`: without gaps between rows.
  void set(Matrix whole, const Floats& values) {
    device_.memory.upload(whole.data, values.data(), values.size() * sizeof(float));
  }
  void fill(Matrix m, float value) { device_.memory.fill(m, value); }
  void copy(float* to, const float* from, int64_t count) {
    device_.memory.copy(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  Floats floats(ConstMatrix m) const { return floats_of(device_.memory, m); }
  Doubles doubles(ConstMatrix m) const { return {device_.memory, m}; }

  // Each element within `tolerance` of the largest.
  void expect_near(ConstMatrix matrix, const Doubles& wanted, double tolerance, const char* what) const {
    ASSERT_EQ(matrix.rows, wanted.rows) << what;
    ASSERT_EQ(matrix.columns, wanted.columns) << what;
    const Doubles got = doubles(matrix);
    double largest = 1e-3;
    for (const double v : wanted.values) largest = std::max(largest, std::abs(v));
    for (int64_t r = 0; r < got.rows; ++r) {
      for (int64_t c = 0; c < got.columns; ++c) {
        ASSERT_NEAR(got(r, c), wanted(r, c), tolerance * largest)
            << what << ", row " << r << ", column " << c;
      }
    }
  }

  Pass training() { return case_pass(device_, tape_); }

  Device device_{*GetParam(), 2};
  std::vector<Tensor> memory_;
  Tape tape_;
  uint64_t drawn_ = 0;
};

}  // namespace dragoman::internal
