// Many small products at once: the bits of each alone, and the values of other products, on every table and in both
// arithmetics.
#include <array>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

using Floats = std::vector<float>;

class SmallProducts : public testing::TestWithParam<const Kernels*> {
 protected:
  ConstMatrix operand(int64_t rows, int64_t columns, bool transposed) {
    OnDevice<float>& memory =
        memories_.emplace_back(memory_, random_floats(rows * columns, memories_.size() + 1));
    if (transposed) return ConstMatrix{memory.data(), columns, rows, rows, 1}.transposed();
    return {memory.data(), rows, columns, columns, 1};
  }

  // Products of any sizes, in every orientation of the operands. Some are large enough for all of a processor's
  // threads; a GPU's on the host take long.
  void prepare() {
    std::vector<std::array<int64_t, 3>> sizes = {{64, 100, 33}, {1, 3, 1}, {5, 0, 7}, {31, 64, 66}};
    const bool on_fibers = is_gpu_table(&kernels_) && !is_gpu(kernels_);
    if (!on_fibers) {
      for (const auto& large :
           {std::array<int64_t, 3>{64, 256, 64}, {64, 64, 1030}, {130, 1100, 33}, {270, 260, 300}})
        sizes.push_back(large);
    }
    for (const auto& [rows, inner, columns] : sizes) {
      for (int variant = 0; variant < 8; ++variant) {
        const ConstMatrix a = operand(rows, inner, (variant & 1) != 0);
        all_.push_back({.a = a,
                        .b = operand(inner, columns, (variant & 2) != 0),
                        .c = {nullptr, rows, columns, columns + 4},
                        .accumulate = (variant & 4) != 0});
      }
    }
  }

  // Of all products. Gaps between rows must stay as they are.
  template <class Multiply>
  std::vector<Floats> results(const Multiply& multiply) {
    std::deque<OnDevice<float>> memories;
    for (SmallProduct& product : all_) {
      const Floats before = random_floats(product.c.rows * product.c.stride, 77);
      product.c.data = memories.emplace_back(memory_, before).data();
    }
    multiply();
    std::vector<Floats> values;
    for (OnDevice<float>& memory : memories) values.push_back(memory.values());
    return values;
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
  std::deque<OnDevice<float>> memories_;
  std::vector<SmallProduct> all_;
};

TEST_P(SmallProducts, AreThoseOfEachAlone) {
  prepare();
  for (const ProductKernels* products : {&kernels_.products, &kernels_.low_precision.rounded}) {
    const std::vector<Floats> values = results([&] {
      for (const SmallProduct& p : all_)
        products->multiply(context_, p.a, p.b, p.c, {.accumulate = p.accumulate});
    });
    const std::vector<Floats> wanted = results([&] {
      for (const SmallProduct& p : all_) products->multiply_each(context_, &p, 1);
    });
    const std::vector<Floats> found =
        results([&] { products->multiply_each(context_, all_.data(), static_cast<int64_t>(all_.size())); });
    for (size_t i = 0; i < all_.size(); ++i) {
      SCOPED_TRACE(fmt::format("variant {} of the sizes {}", i % 8, i / 8));
      EXPECT_TRUE(same_bits(found[i], wanted[i]));
      ASSERT_EQ(found[i].size(), values[i].size());
      for (size_t j = 0; j < values[i].size(); ++j) EXPECT_NEAR(found[i][j], values[i][j], 1e-4) << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, SmallProducts, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
