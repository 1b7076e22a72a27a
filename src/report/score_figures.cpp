// The figure of attention's scores: why they are divided by √d_k.
#include <cmath>

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

}  // namespace dragoman::internal
