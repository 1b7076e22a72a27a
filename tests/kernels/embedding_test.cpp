// Gradients of embeddings against sums in double precision: rows of one word that cross many windows of a GPU's
// kernels, words with a single row, and rows that do not begin where four numbers can be read.
#include <cmath>
#include <memory>

#include "kernels/on_device.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

struct EmbeddingShape {
  int64_t rows, words, columns, stride;
};

// Most rows have one of the first few words, as in text; `words` 1: all have the same.
std::vector<int32_t> frequent_words(const EmbeddingShape& shape) {
  Random random(4);
  std::vector<int32_t> ids(static_cast<size_t>(shape.rows));
  for (int32_t& id : ids) {
    const double x = random.uniform(0, 1);
    id = static_cast<int32_t>(std::pow(x, 6) * static_cast<double>(shape.words));
  }
  return ids;
}

std::vector<RowKey> keys_of(int64_t rows, int64_t positions) {
  std::vector<RowKey> keys;
  for (int64_t r = 0; r < rows; ++r)
    keys.push_back({static_cast<uint64_t>(r / positions), static_cast<uint32_t>(r % positions)});
  return keys;
}

class Embeddings : public testing::TestWithParam<const Kernels*> {
 protected:
  static constexpr int64_t positions = 9;
  static constexpr float scale = 2.5F;

  void check(const EmbeddingShape& s, bool zero_start) {
    const auto size = static_cast<size_t>(s.rows * s.stride);
    const std::vector<float> gradient = random_floats(size, 1),
                             words_before = random_floats(s.words * s.stride, 2),
                             positions_before = random_floats(positions * s.stride, 3);
    const std::vector<int32_t> ids = frequent_words(s);
    const std::vector<RowKey> keys = keys_of(s.rows, positions);
    std::vector<double> words(words_before.begin(), words_before.end()),
        by_position(positions_before.begin(), positions_before.end());
    for (int64_t r = 0; r < s.rows; ++r) {
      const RowKey& key = keys[static_cast<size_t>(r)];
      for (int64_t c = 0; c < s.columns; ++c) {
        const double g = static_cast<double>(gradient[static_cast<size_t>(r * s.stride + c)]);
        const double of_word = zero_start && key.position == 0 ? 0 : static_cast<double>(scale) * g;
        words[static_cast<size_t>(ids[static_cast<size_t>(r)] * s.stride + c)] += of_word;
        by_position[static_cast<size_t>(int64_t{key.position} * s.stride + c)] += g;
      }
    }

    OnDevice<float> gradient_there(memory_, gradient), words_there(memory_, words_before),
        positions_there(memory_, positions_before);
    OnDevice<int32_t> ids_there(memory_, ids);
    OnDevice<RowKey> keys_there(memory_, keys);
    kernels_.embed_backward(context_, ids_there.data(), keys_there.data(),
                            {gradient_there.data(), s.rows, s.columns, s.stride, 1}, scale, zero_start, {},
                            {words_there.data(), s.words, s.columns, s.stride},
                            {positions_there.data(), positions, s.columns, s.stride});
    expect_near(words_there.values(), words, s, "words");
    expect_near(positions_there.values(), by_position, s, "positions");
  }

  static void expect_near(const std::vector<float>& found, const std::vector<double>& wanted,
                          const EmbeddingShape& s, const char* what) {
    const double most = 1e-6 * std::sqrt(static_cast<double>(s.rows)) * 10;
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], wanted[i], most) << what << ", " << i << ": " << s.rows << " x " << s.columns;
  }

  const Kernels& kernels_ = *GetParam();
  DeviceMemory& memory_ = kernels_.memory();
  const std::unique_ptr<Context> own_context_{kernels_.new_context(2)};
  Context& context_ = *own_context_;
};

TEST_P(Embeddings, EachWordsGradientIsTheSumOfItsRows) {
  for (const int64_t rows : {1, 15, 16, 17, 256, 257, 800}) {
    for (const int64_t words : {1, 2, 300}) {
      for (const auto& [columns, stride] : {std::pair{1, 1}, {6, 7}, {130, 132}, {520, 520}}) {
        if (columns == 520 && rows > 257) continue;
        check({rows, words, columns, stride}, rows % 2 == 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(On, Embeddings, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
