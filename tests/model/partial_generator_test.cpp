// Some words of the vocabulary alone have the logits that they have among all, to the bit.
#include "model/partial_generator.h"

#include <algorithm>
#include <numeric>

#include "model/small_models.h"

namespace dragoman::internal {
namespace {

void expect_the_logits_of_the_whole(SmallModel& small, Precision precision) {
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
        ASSERT_EQ(got[i], all[row * static_cast<size_t>(words) + word]) << "word " << word;
      }
    }
  }
}

class GeneratorPartTest : public testing::TestWithParam<ModelCase> {};
TEST_P(GeneratorPartTest, HasTheBitsOfTheWhole) {
  SmallModel small(GetParam().named.config, *GetParam().kernels, 2);
  if (!PackedRows::possible(small.device)) GTEST_SKIP() << "words are picked from all";
  expect_the_logits_of_the_whole(small, GetParam().precision);
}
INSTANTIATE_TEST_SUITE_P(On, GeneratorPartTest, testing::ValuesIn(decoding_cases()), model_case_name);

}  // namespace
}  // namespace dragoman::internal
