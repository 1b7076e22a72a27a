// Some words of the vocabulary alone have the logits that they have among all, to the bit.
#include "model/partial_generator.h"

#include <algorithm>
#include <numeric>

#include "model/gpu_cases.h"

namespace dragoman::internal {
namespace {

// `exactly`, or up to rounding.
void expect_the_logits_of_the_whole(SmallModel& small, Precision precision, bool exactly) {
  if (precision != Precision::fp32) quantize_weights(small.device, small.model.parameters, precision);
  const int64_t d_model = small.model.config.d_model, words = small.model.config.target_vocabulary;
  const Tensor decoded(small.device.pool, 5, d_model);
  const std::vector<float> values = random_floats(static_cast<size_t>(5 * d_model), 3, -1, 1);
  std::ranges::copy(values, decoded.writable_values().begin());
  Pass pass{small.device};
  const std::vector<float> all = rows_of(next_word_logits(pass, small.model, decoded), {0, 5});
  Sentence every_word(static_cast<size_t>(words));
  std::iota(every_word.begin(), every_word.end(), 0);
  for (const Sentence& chosen : {Sentence{4}, Sentence{0, 2, 7, 8, 19}, every_word}) {
    const PartialGenerator part = partial_generator(small.model, chosen);
    const auto count = static_cast<int64_t>(chosen.size());
    for (const int64_t rows : {1, 5}) {
      const Tensor own(small.device.pool, rows, count);
      next_word_logits(small.model, part, decoded.row_range(0, rows), own.matrix());
      const HostView<const float> got = own.values();
      for (size_t i = 0; i < got.size(); ++i) {
        const size_t row = i / chosen.size(), word = static_cast<size_t>(chosen[i % chosen.size()]);
        const float wanted = all[row * static_cast<size_t>(words) + word];
        if (exactly)
          ASSERT_EQ(got[i], wanted) << "word " << word;
        else
          ASSERT_NEAR(got[i], wanted, 1e-5) << "word " << word;
      }
    }
  }
}

// cuBLASLt has algorithms that compute few columns and many where rows are aligned, as those of people's models are.
bool has_aligned_rows(const ModelCase& c) {
  const int64_t bytes = c.precision == Precision::fp32 ? 4 : 2;
  return c.named.config.d_model * bytes % 16 == 0;
}

class GeneratorPartTest : public testing::TestWithParam<ModelCase> {};
TEST_P(GeneratorPartTest, HasTheBitsOfTheWhole) {
  SmallModel small(GetParam().named.config, *GetParam().kernels, 2);
  const bool exactly = !is_gpu(*GetParam().kernels) || has_aligned_rows(GetParam());
  expect_the_logits_of_the_whole(small, GetParam().precision, exactly);
}
INSTANTIATE_TEST_SUITE_P(On, GeneratorPartTest, testing::ValuesIn(decoding_cases()), model_case_name);

class GeneratorPartOnAGpu : public testing::TestWithParam<GpuCase> {};
TEST_P(GeneratorPartOnAGpu, HasTheBitsOfTheWhole) {
  SmallModel small(config_for(GetParam()), *GetParam().kernels, 1);
  expect_the_logits_of_the_whole(small, GetParam().precision, true);
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeneratorPartOnAGpu);
INSTANTIATE_TEST_SUITE_P(On, GeneratorPartOnAGpu,
                         testing::ValuesIn(gpu_cases({Precision::bf16, Precision::int8})), gpu_case_name);

}  // namespace
}  // namespace dragoman::internal
