// The host's twin of cuBLASLt against plain loops, in every transposition and arithmetic; and the memory of the host's
// context.
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/cuda_kernels.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// To 10 bits behind the leading one, as by hand: scaled so that they are the whole part.
float tf32_value(float x) {
  int exponent = 0;
  const double fraction = std::frexp(double{x}, &exponent);
  return static_cast<float>(std::ldexp(std::round(fraction * 2048), exponent - 11));
}

uint16_t bf16_bits(float x) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16); }
float bf16_value(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }

// An operand in memory of its arithmetic, and the numbers that are multiplied.
struct StoredOperand {
  StoredOperand(Arithmetic arithmetic, int64_t rows, int64_t columns, bool transposed_, uint64_t key)
      : transposed(transposed_),
        memory_rows(transposed ? columns : rows),
        memory_columns(transposed ? rows : columns) {
    floats = random_floats(memory_rows * stride(), key);
    for (const float x : floats) halves.push_back(bf16_bits(x));
    is_bf16 = arithmetic == Arithmetic::bf16;
    for (size_t i = 0; i < floats.size(); ++i) {
      const float x = floats[i];
      values.push_back(arithmetic == Arithmetic::tf32 ? tf32_value(x) : is_bf16 ? bf16_value(halves[i]) : x);
    }
  }

  int64_t stride() const { return memory_columns + 3; }
  MatmulOperand operand() const {
    return {is_bf16 ? static_cast<const void*>(halves.data()) : floats.data(), memory_rows, memory_columns,
            stride(), transposed};
  }
  float at(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(transposed ? j * stride() + i : i * stride() + j)];
  }

  bool transposed, is_bf16 = false;
  int64_t memory_rows, memory_columns;
  std::vector<float> floats, values;
  std::vector<uint16_t> halves;
};

constexpr Arithmetic arithmetics[] = {Arithmetic::fp32, Arithmetic::tf32, Arithmetic::bf16};

void expect_matmul(Arithmetic arithmetic, int64_t rows, int64_t inner, int64_t columns, int flags) {
  SCOPED_TRACE(testing::Message() << static_cast<int>(arithmetic) << ": " << rows << ", " << inner << ", "
                                  << columns << ", flags " << flags);
  const bool accumulate = (flags & 4) != 0, with_bias = (flags & 8) != 0, relu = (flags & 16) != 0;
  const StoredOperand a(arithmetic, rows, inner, (flags & 1) != 0, 1),
      b(arithmetic, inner, columns, (flags & 2) != 0, 2);
  const auto bias = random_floats(columns, 3), before = random_floats(rows * (columns + 2), 4);
  std::vector<float> c = before;
  HostGpuContext context(1);
  context.multiply({arithmetic,
                    a.operand(),
                    b.operand(),
                    {c.data(), rows, columns, columns + 2},
                    accumulate,
                    with_bias ? bias.data() : nullptr,
                    relu});
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns + 2; ++j) {
      const auto at = static_cast<size_t>(i * (columns + 2) + j);
      double sum = accumulate ? before[at] : 0;
      if (j >= columns) {  // between the rows
        ASSERT_EQ(c[at], before[at]);
        continue;
      }
      for (int64_t k = 0; k < inner; ++k) sum += double{a.at(i, k)} * b.at(k, j);
      if (with_bias) sum += bias[static_cast<size_t>(j)];
      ASSERT_NEAR(c[at], relu && sum < 0 ? 0 : sum, 3e-6) << i << ", " << j;
    }
  }
}

TEST(CudaMatmul, IsADoubleLoop) {
  for (const Arithmetic arithmetic : arithmetics)
    for (int flags = 0; flags < 32; ++flags)
      for (const int64_t inner : {int64_t{0}, int64_t{1}, int64_t{21}})
        expect_matmul(arithmetic, 5, inner, 19, flags);
}

TEST(CudaMatmul, SizesOfZeroAndOne) {
  for (const Arithmetic arithmetic : arithmetics)
    for (const int flags : {0, 3, 12}) {
      expect_matmul(arithmetic, 0, 4, 3, flags);
      expect_matmul(arithmetic, 3, 4, 0, flags);
      expect_matmul(arithmetic, 1, 1, 1, flags);
    }
}

// Where the two kinds of arithmetic round: a number halfway between two of 10 bits goes away from zero.
TEST(CudaMatmul, Tf32RoundsOperandsAwayFromZero) {
  const float half = 1 + std::ldexp(1.0F, -11), up = 1 + std::ldexp(1.0F, -10),
              below = std::nextafter(half, 0.0F);
  const float every_bit = std::bit_cast<float>(0x7fffffffu);
  const float x[] = {half, -half, below, 3, INFINITY, every_bit};
  const float one = 1;
  float c[6];
  HostGpuContext context(1);
  context.multiply({Arithmetic::tf32, {x, 6, 1, 1, false}, {&one, 1, 1, 1, false}, {c, 6, 1, 1}});
  EXPECT_EQ(c[0], up);
  EXPECT_EQ(c[1], -up);
  EXPECT_EQ(c[2], 1.0F);
  EXPECT_EQ(c[3], 3.0F);
  EXPECT_EQ(c[4], INFINITY);
  EXPECT_TRUE(std::isnan(c[5]));
  context.multiply({Arithmetic::fp32, {x, 5, 1, 1, false}, {&one, 1, 1, 1, false}, {c, 5, 1, 1}});
  EXPECT_EQ(c[0], half);
}

TEST(CudaMatmul, ARowHasTheSameBitsInAnyBatch) {
  constexpr int64_t rows = 37, inner = 65, columns = 40;
  for (const Arithmetic arithmetic : arithmetics) {
    const StoredOperand a(arithmetic, rows, inner, false, 1), b(arithmetic, inner, columns, false, 2);
    HostGpuContext context(1);
    std::vector<float> all(rows * columns), some(rows * columns);
    context.multiply({arithmetic, a.operand(), b.operand(), {all.data(), rows, columns, columns}});
    for (const int64_t count : {1, 2, 7, 36}) {
      for (int64_t first = 0; first + count <= rows; first += count) {
        MatmulOperand part = a.operand();
        const size_t bytes = arithmetic == Arithmetic::bf16 ? 2 : 4;
        part.data = static_cast<const char*>(part.data) + static_cast<size_t>(first * part.stride) * bytes;
        part.rows = count;
        context.multiply({arithmetic, part, b.operand(), {some.data(), count, columns, columns}});
        ASSERT_EQ(std::memcmp(some.data(), &all[static_cast<size_t>(first * columns)],
                              static_cast<size_t>(count * columns) * sizeof(float)),
                  0);
      }
    }
  }
}

TEST(HostGpuContext, ItsWorkspaceIsAlignedAndNotANumber) {
  HostGpuContext context(3);
  EXPECT_EQ(context.threads(), 3);
  for (const size_t count : {size_t{10}, size_t{1000}, size_t{3}}) {
    auto* const floats = static_cast<float*>(context.workspace(count * sizeof(float)));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(floats) % 256, 0u);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(std::isnan(floats[i]));
      floats[i] = 1;
    }
  }
  const std::unique_ptr<Context> other(context.clone(2));
  EXPECT_EQ(other->threads(), 2);
  EXPECT_NE(gpu(*other).workspace(4), context.workspace(4));
}

}  // namespace
}  // namespace dragoman::internal
