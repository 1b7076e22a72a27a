// The vocabulary's words for tensor cores and for eight numbers in bf16 at once, on the host: they compute what
// device.h says, and find what a GPU would not do.
#include <bit>
#include <vector>

#include "kernels/cuda_kernels.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr const char* words_file = "cuda_tensor_words_test.cpp:";

float small_number(int64_t i) { return static_cast<float>((i * 37 + 11) % 17 - 8) / 4; }  // exact in bf16

// Each warp's product; a, b and c are row by row.
GPU_KERNEL multiply_tiles(const float* a, const float* b, float* c) {
  const int g = lane() / 4, t = lane() % 4;
  FourWords left;
  for (int i = 0; i < 4; ++i) {
    const float* from = a + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8;
    left.x[i] = bf16_pair(from[0], from[1]);
  }
  uint32_t right[2];
  for (int i = 0; i < 2; ++i)
    right[i] = bf16_pair(b[(2 * t + i * 8) * 8 + g], b[(2 * t + 1 + i * 8) * 8 + g]);
  float sums[4] = {1, 2, 3, 4};
  add_product(sums, left, right[0], right[1]);
  for (int i = 0; i < 4; ++i)
    c[warp_index() * 128 + (g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i] - static_cast<float>(i + 1);
}

TEST(CudaTensorWords, AProductIsItsDefinition) {
  std::vector<float> a(16 * 16), b(16 * 8);
  for (size_t i = 0; i < a.size(); ++i) a[i] = small_number(static_cast<int64_t>(i));
  for (size_t i = 0; i < b.size(); ++i) b[i] = small_number(static_cast<int64_t>(i) * 5 + 3);
  std::vector<float> c(size_t{2} * 128);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    on_host::set_thread_order_seed(seed);
    HostGpuContext context(1);
    launch(context, {"product", 1, 64}, multiply_tiles, a.data(), b.data(), c.data());
    for (size_t i = 0; i < c.size(); ++i) {
      float sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += a[i / 8 % 16 * 16 + k] * b[k * 8 + i % 8];
      ASSERT_EQ(c[i], sum) << "seed " << seed << ", element " << i;
    }
  }
  on_host::set_thread_order_seed(0);
}

GPU_KERNEL turn_tile(const uint16_t* x, uint16_t* turned) {
  const int place = lane() / 4 * 8 + lane() % 4 * 2;
  const uint32_t pair = transpose(x[place] | uint32_t{x[place + 1]} << 16);
  turned[place] = static_cast<uint16_t>(pair);
  turned[place + 1] = static_cast<uint16_t>(pair >> 16);
}

TEST(CudaTensorWords, TransposeTurnsATile) {
  std::vector<uint16_t> x(64), turned(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i * 1000);
  HostGpuContext context(1);
  launch(context, {"turn", 1, 32}, turn_tile, x.data(), turned.data());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(turned[i], x[i % 8 * 8 + i / 8]) << i;
}

// Halves of words, rounding to even, what does not fit, and what is too small for a GPU's power of 2.
TEST(CudaTensorWords, HalvesAndPowers) {
  EXPECT_EQ(bf16_pair(1, -2), 0xc0003f80U);
  EXPECT_EQ(bf16_pair(0x1.01p0F, 0x1.03p0F), 0x3f823f80U);
  EXPECT_TRUE(std::isnan(low_half(bf16_pair(std::bit_cast<float>(0x7f800001), 0))));
  EXPECT_EQ(low_half(0xc0003f80), 1);
  EXPECT_EQ(high_half(0xc0003f80), -2);
  EXPECT_EQ(low_halves(0x11112222, 0x33334444), 0x44442222U);
  EXPECT_EQ(high_halves(0x11112222, 0x33334444), 0x33331111U);
  EXPECT_EQ(power_of_2(-3), 0.125F);
  EXPECT_EQ(power_of_2(-127), 0);
}

// --- crimes -----------------------------------------------------------------------------------------

GPU_KERNEL copy_words(const uint16_t* from, uint16_t* to, int off, bool there) {
  const FourWords words = load_words_if(there, from + off);
  store_words(words, to + thread_index() * 8);
}

TEST(CudaTensorWords, WordsAreReadAtMultiplesOf16Bytes) {
  alignas(16) const uint16_t values[16] = {1, 2, 3, 4, 5, 6, 7, 8};
  alignas(16) static uint16_t copies[33 * 8];
  const uint16_t* const from = values;
  uint16_t* const to = copies;
  EXPECT_EQ(error_of(32, 0, copy_words, from, to, 0, true), "");
  EXPECT_EQ(to[31 * 8 + 7], 8);
  expect_says(error_of(32, 0, copy_words, from, to, 4, true), words_file, "16 bytes at once");
  EXPECT_EQ(error_of(32, 0, copy_words, from, to, 4, false), "");
  EXPECT_EQ(to[31 * 8 + 7], 0);
  expect_says(error_of(32, 0, copy_words, from, to + 1, 0, true), words_file, "16 bytes at once");
}

GPU_KERNEL multiply_in_some_lanes(int lanes) {
  if (lane() >= lanes) return;
  float sums[4] = {};
  add_product(sums, {{0, 0, 0, 0}}, 0, 0);
}

TEST(CudaTensorWords, AProductTakesTheWholeWarp) {
  EXPECT_EQ(error_of(32, 0, multiply_in_some_lanes, 32), "");
  expect_says(error_of(32, 0, multiply_in_some_lanes, 31), words_file, "add_product");
}

}  // namespace
}  // namespace dragoman::internal
