// What followed the nearest of known states, mixed into log-probabilities: against its formula in double precision.
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "kernels/on_device.h"
#include "kernels/rows.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

constexpr float temperature = 0.2F, reach = 0.9F, most = 0.8F;

struct NearestCase {
  int64_t width, vocabulary;
  std::vector<Span> spans;           // of each row
  std::vector<int32_t> rows, words;  // what they are spans of
  Floats states, known, log_p;
};

// Rows with many known states, with one, with none, and with those of the row before; some near, some far away; one
// that is not sure of a word.
NearestCase nearest_case(int64_t width) {
  constexpr int64_t known = 90, vocabulary = 131;
  NearestCase c = {.width = width,
                   .vocabulary = vocabulary,
                   .spans = {{0, 70}, {0, 70}, {0, 0}, {70, 1}, {71, 33}},
                   .rows = {},
                   .words = {},
                   .states = random_floats(static_cast<size_t>(5 * width), 1, -1, 1),
                   .known = random_floats(static_cast<size_t>(known * width), 2, -1, 1),
                   .log_p = random_floats(static_cast<size_t>(5 * vocabulary), 3, -20, 0)};
  for (int32_t i = 0; i < 104; ++i) {
    c.rows.push_back(i * 37 % known);
    c.words.push_back(i < 70 ? i / 3 : i == 70 ? 130 : i - 40);
  }
  const auto copy_state = [&](int64_t row, int64_t to, float by) {
    for (int64_t j = 0; j < width; ++j)
      c.known[static_cast<size_t>(to * width + j)] = by * c.states[static_cast<size_t>(row * width + j)];
  };
  copy_state(0, c.rows[7], 1);
  copy_state(0, c.rows[8], 1.3F);
  copy_state(3, c.rows[70], 0.9F);
  for (int64_t w = 0; w < vocabulary; ++w) c.log_p[static_cast<size_t>(3 * vocabulary + w)] -= 2;
  return c;
}

double distance(const NearestCase& c, size_t row, int32_t known) {
  double squares = 0, lengths = 0;
  for (size_t j = 0; j < static_cast<size_t>(c.width); ++j) {
    const double q = double{c.states[row * static_cast<size_t>(c.width) + j]},
                 k = double{c.known[static_cast<size_t>(known * c.width) + j]};
    squares += (q - k) * (q - k);
    lengths += q * q + k * k;
  }
  return squares / lengths;
}

// The probabilities of a row's words.
std::vector<double> mixed_by_formula(const NearestCase& c, size_t row) {
  const auto columns = static_cast<size_t>(c.vocabulary);
  std::vector<double> p;
  for (size_t w = 0; w < columns; ++w) p.push_back(std::exp(double{c.log_p[row * columns + w]}));
  const Span span = c.spans[row];
  std::vector<double> distances;
  for (int32_t i = 0; i < span.length; ++i)
    distances.push_back(distance(c, row, c.rows[static_cast<size_t>(span.begin + i)]));
  if (distances.empty()) return p;
  const double least = *std::ranges::min_element(distances);
  const double share = std::max(0.0, double{most} * (1 - least / double{reach})) *
                       std::min(1.0, 2 * (1 - std::ranges::max(p)));
  double total = 0;
  for (double& d : distances) total += d = std::exp((least - d) / double{temperature});
  for (double& x : p) x *= 1 - share;
  for (size_t i = 0; i < distances.size(); ++i)
    p[static_cast<size_t>(c.words[static_cast<size_t>(span.begin) + i])] += share * distances[i] / total;
  return p;
}

class Nearest : public testing::TestWithParam<const Kernels*> {
 protected:
  // Of these rows alone.
  Floats mixed(const NearestCase& c, size_t first, size_t count) {
    const Kernels& kernels = *GetParam();
    DeviceMemory& memory = kernels.memory();
    const auto rows_of = [&](const Floats& all, int64_t columns) {
      const auto width = static_cast<std::ptrdiff_t>(columns);
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first) * width;
      return Floats(begin, begin + static_cast<std::ptrdiff_t>(count) * width);
    };
    const auto rows = static_cast<int64_t>(count);
    OnDevice<Span> spans(memory, {c.spans.begin() + static_cast<std::ptrdiff_t>(first),
                                  c.spans.begin() + static_cast<std::ptrdiff_t>(first + count)});
    OnDevice<int32_t> known_rows(memory, c.rows), words(memory, c.words);
    OnDevice<float> states(memory, rows_of(c.states, c.width)), known(memory, c.known),
        log_p(memory, rows_of(c.log_p, c.vocabulary)), weights(memory, Floats(count * 70));
    kernels.mix_nearest(*context_,
                        {.spans = spans.data(),
                         .rows = known_rows.data(),
                         .words = words.data(),
                         .temperature = temperature,
                         .reach = reach,
                         .most = most},
                        {states.data(), rows, c.width, c.width},
                        {known.data(), std::ssize(c.known) / c.width, c.width, c.width},
                        {weights.data(), rows, 70, 70}, {log_p.data(), rows, c.vocabulary, c.vocabulary});
    return log_p.values();
  }

  const std::unique_ptr<Context> context_{GetParam()->new_context(2)};
};

TEST_P(Nearest, MixedProbabilitiesFollowTheFormula) {
  for (const int64_t width : {1, 7, 64, 100}) {
    const NearestCase c = nearest_case(width);
    const Floats log_p = mixed(c, 0, c.spans.size());
    for (size_t row = 0; row < c.spans.size(); ++row) {
      const std::vector<double> wanted = mixed_by_formula(c, row);
      for (size_t w = 0; w < wanted.size(); ++w) {
        const double got = double{log_p[row * wanted.size() + w]};
        EXPECT_NEAR(got, std::log(wanted[w]), 1e-5 * std::max(1.0, -got))
            << width << ": " << row << ", " << w;
      }
    }
  }
}

TEST_P(Nearest, ARowsBitsAreItsOwn) {
  const NearestCase c = nearest_case(100);
  const Floats together = mixed(c, 0, c.spans.size());
  const auto columns = static_cast<size_t>(c.vocabulary);
  for (size_t row = 0; row < c.spans.size(); ++row) {
    const Floats alone = mixed(c, row, 1);
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(row * columns)))
        << row;
  }
}

// What no model has said is possible, and what a memory has, too.
TEST_P(Nearest, AnImpossibleWordBecomesPossible) {
  NearestCase c = nearest_case(64);
  const auto columns = static_cast<size_t>(c.vocabulary);
  for (size_t w = 0; w < columns; ++w) c.log_p[3 * columns + w] = w < 4 ? std::log(0.25F) : -INFINITY;
  const Floats log_p = mixed(c, 3, 1);
  EXPECT_GT(log_p[130], std::log(0.5F));
  EXPECT_LT(log_p[0], std::log(0.125F));
  EXPECT_EQ(log_p[4], -INFINITY);
}

// Wherever that word stands: lanes and threads take different columns.
TEST_P(Nearest, ARowThatIsSureStaysAsItIs) {
  NearestCase c = nearest_case(64);
  const auto columns = static_cast<size_t>(c.vocabulary);
  for (const size_t sure : {0UL, 63UL, 130UL}) {
    const auto row = std::span(c.log_p).subspan(3 * columns, columns);
    std::ranges::fill(row, -40.0F);
    row[sure] = 0;
    EXPECT_TRUE(std::ranges::equal(mixed(c, 3, 1), row)) << sure;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Nearest, testing::ValuesIn(every_table()), kernels_name);

}  // namespace
}  // namespace dragoman::internal
