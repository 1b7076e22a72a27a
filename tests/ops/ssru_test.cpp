// The recurrent unit against its formula; and a step with the states of earlier steps has the bits of the whole.
#include <numeric>

#include "ops/reference.h"

namespace dragoman::internal {
namespace {

using SsruTest = Reference;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST_P(SsruTest, IsItsFormula) {
  const Tokens rows = tokens({4, 1, 300, 17});
  const int64_t width = 261;
  const Tensor both = random(rows.count(), 2 * width, 4);
  const Doubles in = doubles(both);
  const std::vector<RowKey> keys = rows.rows.download();
  Doubles states(rows.count(), width), output(rows.count(), width);
  for (int64_t r = 0; r < rows.count(); ++r) {
    const bool first = keys[static_cast<size_t>(r)].position == 0;
    for (int64_t c = 0; c < width; ++c) {
      const double f = sigmoid(in(r, c));
      states(r, c) = f * (first ? 0 : states(r - 1, c)) + (1 - f) * in(r, width + c);
      output(r, c) = std::max(states(r, c), 0.0);
    }
  }
  Pass pass{device_};
  const StatesAndOutput got = ssru(pass, both, {.spans = &rows.spans});
  expect_near(got.states, states, 1e-6, "states");
  expect_near(got.output, output, 1e-6, "output");
}

// The rows of earlier steps stand anywhere.
TEST_P(SsruTest, AStepHasTheBitsOfTheWhole) {
  const int64_t width = 37;
  const std::vector<int32_t> lengths = {1, 5, 2, 9};
  const Tokens rows = tokens(lengths);
  const Tensor both = random(rows.count(), 2 * width);
  Pass pass{device_};
  const StatesAndOutput whole = ssru(pass, both, {.spans = &rows.spans});
  const Tensor cache = random(rows.count() + 5, 2 * width), last = random(std::ssize(lengths), 2 * width);
  std::vector<Span> ones, keys;
  std::vector<int32_t> key_rows(static_cast<size_t>(rows.count()));
  std::iota(key_rows.rbegin(), key_rows.rend(), 3);
  for (int32_t i = 0, begin = 0; i < std::ssize(lengths); begin += lengths[static_cast<size_t>(i++)]) {
    const int32_t length = lengths[static_cast<size_t>(i)];
    ones.push_back({i, 1});
    keys.push_back({begin, length});
    for (int32_t r = begin; r < begin + length - 1; ++r)
      copy(cache.data() + key_rows[static_cast<size_t>(r)] * 2 * width, whole.states.data() + r * width,
           width);
    copy(last.data() + i * 2 * width, both.data() + (begin + length - 1) * 2 * width, 2 * width);
  }
  const Spans step(device_.pool, ones), seen(device_.pool, keys);
  const Array<int32_t> seen_rows(device_.pool, key_rows);
  const StatesAndOutput got =
      ssru(pass, last,
           {.spans = &step, .seen = cache.column_range(0, width), .keys = &seen, .key_rows = &seen_rows});
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Tensor wanted = whole.output.row_range(keys[i].begin + keys[i].length - 1, 1);
    EXPECT_TRUE(same_bits(floats(got.output.row_range(static_cast<int64_t>(i), 1)), floats(wanted)))
        << "sentence " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(On, SsruTest, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
