// Logistic regression: the probability of an event from a few numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dragoman::internal {

// A row of numbers for each case, all of one width.
class FeatureRows {
 public:
  explicit FeatureRows(size_t width) : width_(width) {}

  void add(std::span<const double> row);
  size_t size() const { return values_.size() / width_; }
  size_t width() const { return width_; }
  std::span<const double> operator[](size_t row) const {
    return std::span(values_).subspan(row * width_, width_);
  }

 private:
  size_t width_;
  std::vector<double> values_;
};

struct LogisticModel {
  std::vector<double> weights;
  double bias = 0;

  double log_odds(std::span<const double> features) const;
  double probability(std::span<const double> features) const;
};

// The most likely model given the events, each 0 or 1 or a probability, with a normal prior on the weights of
// standardised features (variance 1), which decides where cases are few. By Newton's method: the same model from the
// same cases.
LogisticModel fit_logistic(const FeatureRows& cases, std::span<const double> events);

}  // namespace dragoman::internal
