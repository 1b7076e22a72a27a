#include "confidence/logistic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace dragoman::internal {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What makes features comparable: (x − mean) / deviation.
struct Scale {
  std::vector<double> mean, deviation;

  explicit Scale(const FeatureRows& cases) : mean(cases.width(), 0), deviation(cases.width(), 0) {
    const auto count = static_cast<double>(cases.size());
    for (size_t row = 0; row < cases.size(); ++row)
      for (size_t i = 0; i < mean.size(); ++i) mean[i] += cases[row][i] / count;
    for (size_t row = 0; row < cases.size(); ++row)
      for (size_t i = 0; i < mean.size(); ++i)
        deviation[i] += (cases[row][i] - mean[i]) * (cases[row][i] - mean[i]) / count;
    // A constant feature tells nothing: its weight is 0.
    for (double& one : deviation) one = one > 1e-12 ? std::sqrt(one) : 0;
  }

  // With a 1 for the bias behind them.
  std::vector<double> operator()(std::span<const double> row) const {
    std::vector<double> scaled;
    for (size_t i = 0; i < row.size(); ++i)
      scaled.push_back(deviation[i] > 0 ? (row[i] - mean[i]) / deviation[i] : 0);
    scaled.push_back(1);
    return scaled;
  }
};

// Solves the symmetric positive definite system a·x = b, by Cholesky's decomposition in place.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

// Minus the logarithm of the likelihood and the prior, with its gradient and its second derivatives.
class Objective {
 public:
  Objective(const FeatureRows& cases, const Scale& scale, std::span<const double> events) : events_(events) {
    for (size_t row = 0; row < cases.size(); ++row) rows_.push_back(scale(cases[row]));
  }

  double value(const std::vector<double>& w) const {
    double sum = 0;
    for (size_t i = 0; i + 1 < w.size(); ++i) sum += w[i] * w[i] / 2;
    for (size_t row = 0; row < rows_.size(); ++row) {
      const double x = dot(rows_[row], w);
      sum += std::max(x, 0.0) - x * events_[row] + std::log1p(std::exp(-std::abs(x)));
    }
    return sum;
  }

  std::vector<double> newton_step(const std::vector<double>& w) const {
    const size_t n = w.size();
    constexpr double almost_flat = 1e-9;  // the prior of the bias, so that there is always one solution
    std::vector<double> gradient(n, 0), curvature(n * n, 0);
    for (size_t i = 0; i < n; ++i) {
      const double prior = i + 1 < n ? 1 : almost_flat;
      gradient[i] = prior * w[i];
      curvature[i * n + i] = prior;
    }
    for (size_t row = 0; row < rows_.size(); ++row) {
      const std::vector<double>& x = rows_[row];
      const double p = sigmoid(dot(x, w));
      for (size_t i = 0; i < n; ++i) {
        gradient[i] += (p - events_[row]) * x[i];
        for (size_t j = 0; j <= i; ++j) curvature[i * n + j] += p * (1 - p) * x[i] * x[j];
      }
    }
    return solve(std::move(curvature), std::move(gradient));
  }

 private:
  static double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }

  std::vector<std::vector<double>> rows_;
  std::span<const double> events_;
};

// Newton's method, with shorter steps where a whole one leads uphill.
std::vector<double> minimum(const Objective& objective, size_t size) {
  constexpr int most_steps = 50;
  constexpr double precise = 1e-10, shortest = 1e-4;
  std::vector<double> w(size, 0);
  double value = objective.value(w);
  for (int step = 0; step < most_steps; ++step) {
    const std::vector<double> direction = objective.newton_step(w);
    double better = value, length = 1;
    std::vector<double> next;
    for (; length > shortest; length /= 2) {
      next = w;
      for (size_t i = 0; i < w.size(); ++i) next[i] -= length * direction[i];
      better = objective.value(next);
      if (better <= value) break;
    }
    if (better > value) break;
    const double gain = value - better;
    w = std::move(next);
    value = better;
    if (gain <= precise * std::abs(value)) break;
  }
  return w;
}

}  // namespace

void FeatureRows::add(std::span<const double> row) {
  CHECK(row.size() == width_, "{} features in rows of {}", row.size(), width_);
  values_.insert(values_.end(), row.begin(), row.end());
}

double LogisticModel::log_odds(std::span<const double> features) const {
  double x = bias;
  for (size_t i = 0; i < weights.size(); ++i) x += weights[i] * features[i];
  return x;
}

double LogisticModel::probability(std::span<const double> features) const {
  return sigmoid(log_odds(features));
}

LogisticModel fit_logistic(const FeatureRows& cases, std::span<const double> events) {
  CHECK(cases.size() == events.size(), "{} cases and {} events", cases.size(), events.size());
  const Scale scale(cases);
  const std::vector<double> w = minimum(Objective(cases, scale, events), cases.width() + 1);
  // Back to features as they are.
  LogisticModel model = {.weights = std::vector<double>(cases.width(), 0), .bias = w.back()};
  for (size_t i = 0; i < cases.width(); ++i) {
    if (scale.deviation[i] == 0) continue;
    model.weights[i] = w[i] / scale.deviation[i];
    model.bias -= model.weights[i] * scale.mean[i];
  }
  return model;
}

}  // namespace dragoman::internal
