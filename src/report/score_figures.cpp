// The figures of attention's scores: why they are divided by √d_k, and what the positions' rows have in common.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/random.h"
#include "report/figures.h"

namespace dragoman::internal {
namespace {

// Of two vectors whose elements have mean 0 and variance 1.
std::vector<double> random_products(const DotProducts& options) {
  Random random(1);
  std::vector<double> products;
  for (int64_t i = 0; i < options.samples; ++i) {
    double product = 0;
    for (int64_t c = 0; c < options.d_k; ++c) {
      const double q = random.normal(), k = random.normal();
      product += q * k;
    }
    products.push_back(product);
  }
  return products;
}

// The share of the products in each of `bins` intervals of [-limit, limit].
ChartCurve histogram(const std::string& name, const std::vector<double>& products, double limit) {
  constexpr int bins = 60;
  std::vector<double> shares(bins);
  for (const double product : products) {
    const double bin = std::floor((product + limit) / (2 * limit) * bins);
    if (bin >= 0 && bin < bins) shares[static_cast<size_t>(bin)] += 1 / static_cast<double>(products.size());
  }
  ChartCurve curve = {.name = name, .points = {}};
  for (int bin = 0; bin < bins; ++bin)
    curve.points.push_back({limit * (2 * (bin + 0.5) / bins - 1), shares[static_cast<size_t>(bin)]});
  return curve;
}

double variance(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size());
}

}  // namespace

void declare(Section& own, DotProducts& options) {
  own.add("d_k", options.d_k, "elements of a query and of a key", at_least(1).at_most(4096));
  own.add("samples", options.samples, "pairs of a query and a key", at_least(100).at_most(1e6));
}

LineChart chart(const DotProducts& options) {
  const double root = std::sqrt(static_cast<double>(options.d_k));
  LineChart chart = {.title = fmt::format("Products of random queries and keys, d_k {}", options.d_k),
                     .x_title = "score",
                     .y_title = "share of the pairs",
                     .curves = {}};
  std::vector<double> products = random_products(options);
  for (const char* name : {"q·k", "q·k / √d_k"}) {
    chart.curves.push_back(
        histogram(fmt::format("{}, variance {:.2f}", name, variance(products)), products, 3 * root));
    for (double& product : products) product /= root;
  }
  return chart;
}

void declare(Section& own, PositionProducts& options) {
  own.add("d_model", options.d_model, "width of the table of positions", at_least(2).at_most(4096));
  own.add("positions", options.positions, "how many positions, from 0 on", at_least(2).at_most(200));
}

// PE(p)·PE(q) is a sum of cosines of (p − q) times a rate, d_model/2 of them.
HeatMaps chart(const PositionProducts& options) {
  if (options.d_model % 2 != 0)
    throw OptionError("d_model", fmt::format("is {}, but must be even", options.d_model));
  const int64_t n = options.positions, d = options.d_model;
  std::vector<double> table;
  for (int64_t i = 0; i < n * d; ++i) table.push_back(position_value(Positions::sinusoidal, i / d, i % d, d));
  HeatMap products = {.title = "", .rows = n, .columns = n, .values = {}};
  for (int64_t p = 0; p < n; ++p) {
    for (int64_t q = 0; q < n; ++q) {
      const auto row = table.begin() + p * d;
      const double product = std::inner_product(row, row + d, table.begin() + q * d, 0.0);
      products.values.push_back(product / static_cast<double>(d / 2));
    }
  }
  return {.title = fmt::format("Products of two rows of the positions' table, d_model {}", options.d_model),
          .x_title = "position",
          .y_title = "position",
          .min = -1,
          .max = 1,
          .maps = {products}};
}

}  // namespace dragoman::internal
