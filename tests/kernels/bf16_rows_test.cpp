// Passes over rows in bf16 alone: what they write is what they would write as floats, rounded once. In widths that are
// read four columns at a time and in others, on tables that have such matrices.
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include "kernels/nearest_bf16.h"
#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

// Of the same numbers, which bf16 has: a matrix of floats and one in bf16 alone.
struct BothMatrices {
  BothMatrices(DeviceMemory& memory, int64_t r, int64_t c, int64_t s, uint64_t key)
      : rows(r),
        columns(c),
        stride(s),
        floats(memory, values(r * s, key)),
        rounded(memory, rounded_values(r * s, key)) {}

  static std::vector<float> values(int64_t count, uint64_t key) {
    std::vector<float> numbers = random_floats(count, key);
    for (float& x : numbers) x = float_of_bf16(nearest_bf16(x));
    return numbers;
  }
  static std::vector<uint16_t> rounded_values(int64_t count, uint64_t key) {
    std::vector<uint16_t> numbers;
    for (const float x : values(count, key)) numbers.push_back(nearest_bf16(x));
    return numbers;
  }

  Matrix of(bool in_bf16) {
    return in_bf16 ? Matrix{nullptr, rows, columns, stride, rounded.data()}
                   : Matrix{floats.data(), rows, columns, stride};
  }
  void expect_rounded(const char* what) {
    for (size_t i = 0; i < floats.values().size(); ++i)
      ASSERT_EQ(rounded.values()[i], nearest_bf16(floats.values()[i]))
          << what << ", " << i << " of " << columns;
  }

  int64_t rows, columns, stride;
  OnDevice<float> floats;
  OnDevice<uint16_t> rounded;
};

class Bf16Rows : public testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (kernels_.low_precision.round == nullptr) GTEST_SKIP() << "has floats alone";
  }

  // body(width, stride), of rows that can be read in fours and of rows that cannot.
  static void for_widths(const std::function<void(int64_t, int64_t)>& body) {
    for (const auto& [width, stride] : {std::pair{4, 4}, {21, 23}, {40, 44}, {600, 600}, {1036, 1040}})
      body(width, stride);
  }
  BothMatrices both(int64_t rows, int64_t columns, int64_t stride, uint64_t key) {
    return {memory_, rows, columns, stride, key};
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
};

TEST_P(Bf16Rows, SumsAndProductsOfElements) {
  for_widths([&](int64_t width, int64_t stride) {
    BothMatrices a = both(6, width, stride, 1), b = both(6, width, stride, 2),
                 product = both(6, width, stride, 3);
    for (const bool in_bf16 : {false, true}) {
      kernels_.multiply_elements(context_, a.of(in_bf16), b.of(in_bf16), product.of(in_bf16));
      kernels_.add(context_, 0.75F, a.of(in_bf16), b.of(in_bf16));
    }
    product.expect_rounded("product");
    b.expect_rounded("sum");
    EXPECT_EQ(product.floats.values()[0], a.floats.values()[0] * BothMatrices::values(1, 2)[0]);
  });
}

TEST_P(Bf16Rows, CopiesOfRows) {
  OnDevice<int32_t> rows(memory_, {4, 0, 5});
  for_widths([&](int64_t width, int64_t stride) {
    BothMatrices from = both(6, width, stride, 1), gathered = both(3, width, stride, 2),
                 scattered = both(6, width, stride, 3);
    for (const bool in_bf16 : {false, true}) {
      kernels_.gather_rows(context_, from.of(in_bf16), rows.data(), gathered.of(in_bf16));
      kernels_.scatter_rows(context_, gathered.of(in_bf16), rows.data(), scattered.of(in_bf16));
    }
    gathered.expect_rounded("gathered");
    scattered.expect_rounded("scattered");
    for (const int64_t r : {4, 0, 5})
      EXPECT_EQ(scattered.floats.values()[static_cast<size_t>(r * stride + width - 1)],
                from.floats.values()[static_cast<size_t>(r * stride + width - 1)]);
  });
}

TEST_P(Bf16Rows, RotaryPositions) {
  for (const int64_t width : {2, 6, 8, 64}) {
    const int64_t heads = 5, positions = 7;
    std::vector<float> turns;
    for (int64_t p = 0; p < positions; ++p)
      for (int64_t i = 0; i < width; ++i) {
        const double angle = static_cast<double>(p * (i % (width / 2) + 1)) / 10;
        turns.push_back(static_cast<float>(i < width / 2 ? std::cos(angle) : std::sin(angle)));
      }
    std::vector<RowKey> keys;
    for (uint32_t r = 0; r < 6; ++r) keys.push_back({0, (r * 3) % 7});
    OnDevice<float> angles(memory_, turns);
    OnDevice<RowKey> keys_there(memory_, keys);
    const int64_t columns = heads * width;
    BothMatrices x = both(6, columns, columns + 4, 1);
    const std::vector<float> before = x.floats.values();
    for (const bool in_bf16 : {false, true})
      kernels_.rotate(context_, keys_there.data(), {angles.data(), positions, width, width, 1}, false,
                      x.of(in_bf16));
    x.expect_rounded("turned");
    const std::vector<float> after = x.floats.values();
    for (size_t r = 0; r < 6; ++r)
      for (int64_t h = 0; h < heads; ++h)
        for (int64_t i = 0; i < width / 2; ++i) {
          const size_t first = r * static_cast<size_t>(columns + 4) + static_cast<size_t>(h * width + i);
          const size_t angle = keys[r].position * static_cast<size_t>(width) + static_cast<size_t>(i);
          const float cosine = turns[angle], sine = turns[angle + static_cast<size_t>(width) / 2];
          const float b = before[first + static_cast<size_t>(width) / 2];
          EXPECT_NEAR(after[first], before[first] * cosine - b * sine, 1e-6) << width << ", row " << r;
        }
    kernels_.rotate(context_, keys_there.data(), {angles.data(), positions, width, width, 1}, true,
                    x.of(false));
    const std::vector<float> back = x.floats.values();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(back[i], before[i], 1e-6) << width;
  }
}

TEST_P(Bf16Rows, NormsOfHeads) {
  constexpr int64_t heads = 5;
  for (const int64_t width : {1, 6, 32, 70}) {
    const int64_t columns = heads * width, stride = columns + 4;
    BothMatrices x = both(6, columns, stride, 1), y = both(6, columns, stride, 2),
                 gradient = both(6, columns, stride, 3);
    const std::vector<float> before = x.floats.values(), normed = y.floats.values(),
                             of_normed = gradient.floats.values();
    OnDevice<float> factors(memory_, std::vector<float>(6 * heads));
    for (const bool in_bf16 : {false, true}) {
      kernels_.normalise_heads(context_, width, 0.125F, x.of(in_bf16), factors.data());
      kernels_.normalise_heads_backward(context_, width, y.of(in_bf16), factors.data(), gradient.of(in_bf16));
    }
    x.expect_rounded("normalised");
    gradient.expect_rounded("gradient");
    for (size_t head = 0; head < 6 * heads; ++head) {
      const size_t first =
          head / heads * static_cast<size_t>(stride) + head % heads * static_cast<size_t>(width);
      double squares = 0, products = 0;
      for (size_t i = first; i < first + static_cast<size_t>(width); ++i) {
        squares += before[i] * before[i];
        products += normed[i] * of_normed[i];
      }
      const double factor = 1 / std::sqrt(squares / static_cast<double>(width) + 0.125);
      const double mean = products / static_cast<double>(width);
      for (size_t i = first; i < first + static_cast<size_t>(width); ++i) {
        EXPECT_NEAR(x.floats.values()[i], factor * before[i], 1e-5) << width;
        EXPECT_NEAR(gradient.floats.values()[i], factor * (of_normed[i] - normed[i] * mean), 1e-5) << width;
      }
    }
  }
}

TEST_P(Bf16Rows, States) {
  const std::vector<Span> sentences = {{0, 3}, {3, 5}};
  OnDevice<Span> spans(memory_, sentences);
  const SsruShape shape = {spans.data(), 2, nullptr, nullptr};
  for_widths([&](int64_t width, int64_t stride) {
    BothMatrices gate = both(8, width, stride, 1), input = both(8, width, stride, 2),
                 out = both(8, width, stride, 3), d = both(8, width, stride, 4),
                 gate_gradient = both(8, width, stride, 5), input_gradient = both(8, width, stride, 6);
    OnDevice<float> states(memory_, std::vector<float>(static_cast<size_t>(8 * stride)));
    const Matrix all_states = {states.data(), 8, width, stride};
    for (const bool in_bf16 : {false, true}) {
      kernels_.ssru(context_, shape, gate.of(in_bf16), input.of(in_bf16), {}, all_states, out.of(in_bf16));
      kernels_.ssru_backward(context_, shape, gate.of(in_bf16), input.of(in_bf16), all_states, d.of(in_bf16),
                             gate_gradient.of(in_bf16), input_gradient.of(in_bf16));
    }
    out.expect_rounded("output");
    gate_gradient.expect_rounded("gradient of the gate");
    input_gradient.expect_rounded("gradient of the input");
  });
}

INSTANTIATE_TEST_SUITE_P(On, Bf16Rows, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
