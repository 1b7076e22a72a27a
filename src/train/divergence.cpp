#include "train/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace dragoman::internal {
namespace {

constexpr int64_t history = 100;   // updates before a loss can be an outlier, and about how many count
constexpr double deviations = 10;  // beyond which it is an outlier
constexpr double max_increase =
    100;  // per token over the first loss: guessing among a million words costs 14
constexpr int64_t skips_in_a_row = 3;  // then a rollback
constexpr int64_t max_rollbacks = 3;   // then the end

// Without the sign of NaN, which means nothing.
std::string formatted(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

}  // namespace

DivergenceGuard::Verdict DivergenceGuard::judge(double loss, double gradient_norm) {
  reason_.clear();
  loss_is_finite_ = std::isfinite(loss);
  if (!loss_is_finite_) {
    reason_ = fmt::format("the loss is {}", formatted(loss));
  } else if (!std::isfinite(gradient_norm)) {
    reason_ = fmt::format("the gradient norm is {}", formatted(gradient_norm));
  } else if (is_outlier(loss)) {
    reason_ = fmt::format("the loss is {} per token, after {} ± {}", formatted(loss), formatted(mean_),
                          formatted(std::sqrt(variance_)));
  } else {
    add_to_statistics(loss);
    in_a_row_ = 0;
    return Verdict::good;
  }
  ++skipped_;
  return ++in_a_row_ < skips_in_a_row ? Verdict::skip : reject();
}

DivergenceGuard::Verdict DivergenceGuard::reject() {
  in_a_row_ = 0;
  if (++rollbacks_ > max_rollbacks) return Verdict::stop;
  rate_scale_ /= 2;
  return Verdict::rollback;
}

bool DivergenceGuard::is_outlier(double loss) const {
  if (seen_ > 0 && loss > first_ + max_increase) return true;
  return seen_ >= history && loss > mean_ + deviations * std::sqrt(variance_) + 0.5;
}

void DivergenceGuard::add_to_statistics(double loss) {
  if (seen_ == 0) first_ = loss;
  const double weight = 1.0 / static_cast<double>(std::min(++seen_, history));
  const double difference = loss - mean_;
  mean_ += weight * difference;
  variance_ = (1 - weight) * (variance_ + weight * difference * difference);
}

// Of several tensors with non-finite numbers the last one of the model: backward spreads them to the earlier ones.
void DivergenceGuard::blame(const Parameters& parameters) {
  const std::string* name = nullptr;
  float largest = -1, value = 0;
  for (auto parameter = parameters.list().rbegin(); parameter != parameters.list().rend(); ++parameter) {
    if (parameter->constant) continue;
    const float* values = loss_is_finite_ ? parameter->value.gradient().data : parameter->value.data();
    const std::span device(values, static_cast<size_t>(parameter->size()));
    for (const float v : HostView<const float>(parameters.memory(), device)) {
      const float size = std::isfinite(v) ? std::abs(v) : std::numeric_limits<float>::infinity();
      if (size <= largest) continue;
      largest = size;
      value = v;
      name = &parameter->name;
    }
  }
  if (name == nullptr) return;
  reason_ += fmt::format("; {} has a {} of {}", *name, loss_is_finite_ ? "gradient" : "weight",
                         formatted(static_cast<double>(value)));
}

void DivergenceGuard::keep_counters_of(const DivergenceGuard& later) {
  in_a_row_ = later.in_a_row_;
  skipped_ = later.skipped_;
  rollbacks_ = later.rollbacks_;
  rate_scale_ = later.rate_scale_;
}

nlohmann::json DivergenceGuard::to_json() const {
  return {
      {"first", first_},       {"mean", mean_},       {"variance", variance_}, {"seen", seen_},
      {"in_a_row", in_a_row_}, {"skipped", skipped_}, {"returns", rollbacks_}, {"rate_scale", rate_scale_}};
}

void DivergenceGuard::from_json(const nlohmann::json& saved) {
  mean_ = saved.at("mean");
  first_ = saved.value("first", mean_);
  variance_ = saved.at("variance");
  seen_ = integer_at(saved, "seen");
  in_a_row_ = integer_at(saved, "in_a_row");
  skipped_ = integer_at(saved, "skipped");
  rollbacks_ = integer_at(saved, "returns");
  rate_scale_ = saved.at("rate_scale");
}

}  // namespace dragoman::internal
