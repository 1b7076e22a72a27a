// Rows of numbers that bf16 holds, in floats and in bf16 alone, for tests of kernels
// over rows, on the tables that read both.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/nearest_bf16.h"
#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
using Floats = std::vector<float>;
using Halves = std::vector<uint16_t>;
constexpr float beside = 99;

inline std::vector<const Kernels*> rounding_tables() {
  std::vector<const Kernels*> tables;
  for (const Kernels* table : every_table())
    if (table->low_precision.round != nullptr) tables.push_back(table);
  return tables;
}

struct Shape {
  int64_t rows, columns;
};
constexpr Shape shapes[] = {{1, 5},    {3, 5},     {130, 5},  {3, 64},   {64, 64},   {130, 64},
                            {3, 100},  {64, 100},  {3, 512},  {64, 512}, {130, 512}, {1, 700},
                            {3, 1024}, {40, 1024}, {3, 1088}, {40, 1088}};

// Where rows stand: beside the first, none begins at a multiple of four numbers, or the first does not, or all do.
struct Place {
  int64_t gap, offset;
};
constexpr Place row_places[] = {{1, 0}, {4, 1}, {4, 4}};

class Rows : public testing::TestWithParam<const Kernels*> {
 protected:
  // Numbers that bf16 holds, in it and in floats; rows are `gap` apart, and the first begins after `offset` numbers.
  // What is not theirs is `beside`.
  struct Numbers {
    Numbers(DeviceMemory& memory, Shape of, uint64_t key, int64_t gap, int64_t first)
        : shape(of),
          stride(of.columns + gap),
          offset(first),
          halves(memory, rounded(placed(key))),
          floats(memory, widened(rounded(placed(key)))) {}

    Floats placed(uint64_t key) const {
      const Floats values = random_floats(shape.rows * shape.columns, key);
      Floats all(static_cast<size_t>(offset + shape.rows * stride), beside);
      for (int64_t r = 0; r < shape.rows; ++r)
        std::copy_n(values.begin() + r * shape.columns, shape.columns, all.begin() + offset + r * stride);
      return all;
    }
    Matrix in_floats() { return {floats.data() + offset, shape.rows, shape.columns, stride}; }
    Matrix in_bf16() { return {nullptr, shape.rows, shape.columns, stride, halves.data() + offset}; }
    Matrix in_both() {
      return {floats.data() + offset, shape.rows, shape.columns, stride, halves.data() + offset};
    }
    template <class T>
    std::vector<T> dense(const std::vector<T>& all) const {
      std::vector<T> rows;
      for (int64_t r = 0; r < shape.rows; ++r)
        for (int64_t c = 0; c < shape.columns; ++c)
          rows.push_back(all[static_cast<size_t>(offset + r * stride + c)]);
      return rows;
    }
    Floats float_rows() { return dense(floats.values()); }
    Halves bf16_rows() { return dense(halves.values()); }

    Shape shape;
    int64_t stride, offset;
    OnDevice<uint16_t> halves;
    OnDevice<float> floats;
  };

  bool has_bf16() const { return kernels_.low_precision.round != nullptr; }
  Numbers numbers(Shape shape, uint64_t key, int64_t gap = 0, int64_t offset = 0) {
    return {memory_, shape, key, gap, offset};
  }
  Dropout dropout(float rate, int64_t first = 0) {
    return {.rate = rate, .key = {3, 4}, .rows = keys_.data() + first};
  }
  static std::vector<RowKey> many_keys() {
    std::vector<RowKey> keys;
    for (uint32_t i = 0; i < 9000; ++i) keys.push_back({i / 7, i % 7});
    return keys;
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
  OnDevice<RowKey> keys_{memory_, many_keys()};
};

}  // namespace dragoman::internal
