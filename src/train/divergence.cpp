#include "train/divergence.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace dragoman {
namespace {

constexpr int64_t history = 100;       // updates before a loss can be far outside, and about how many count
constexpr double deviations = 10;      // beyond which it is
constexpr int64_t skips_in_a_row = 3;  // then the last good state
constexpr int64_t most_returns = 3;    // then the end

}  // namespace

DivergenceGuard::Verdict DivergenceGuard::judge(double loss, double gradient_norm) {
  reason_.clear();
  if (!std::isfinite(loss)) {
    reason_ = fmt::format("the loss is {}", loss);
  } else if (!std::isfinite(gradient_norm)) {
    reason_ = fmt::format("the gradient's norm is {}", gradient_norm);
  } else if (is_far_outside(loss)) {
    reason_ =
        fmt::format("the loss is {:.3f} a token, after {:.3f} ± {:.3f}", loss, mean_, std::sqrt(variance_));
  } else {
    remember(loss);
    in_a_row_ = 0;
    return Verdict::good;
  }
  ++skipped_;
  if (++in_a_row_ < skips_in_a_row) return Verdict::skip;
  in_a_row_ = 0;
  if (++returns_ > most_returns) return Verdict::give_up;
  rate_scale_ /= 2;
  return Verdict::go_back;
}

bool DivergenceGuard::is_far_outside(double loss) const {
  return seen_ >= history && loss > mean_ + deviations * std::sqrt(variance_) + 0.5;
}

void DivergenceGuard::remember(double loss) {
  const double weight = 1.0 / static_cast<double>(std::min(++seen_, history));
  const double difference = loss - mean_;
  mean_ += weight * difference;
  variance_ = (1 - weight) * (variance_ + weight * difference * difference);
}

void DivergenceGuard::blame(const Parameters& parameters) {
  for (const Parameter& parameter : parameters.list()) {
    const float* gradient = parameter.value.gradient().data;
    const auto bad =
        std::find_if(gradient, gradient + parameter.size(), [](float g) { return !std::isfinite(g); });
    if (bad == gradient + parameter.size()) continue;
    reason_ += fmt::format("; {} has a gradient of {}", parameter.name, *bad);
    return;
  }
}

void DivergenceGuard::keep_patience_of(const DivergenceGuard& later) {
  in_a_row_ = later.in_a_row_;
  skipped_ = later.skipped_;
  returns_ = later.returns_;
  rate_scale_ = later.rate_scale_;
}

nlohmann::json DivergenceGuard::to_json() const {
  return {{"mean", mean_},
          {"variance", variance_},
          {"seen", seen_},
          {"in_a_row", in_a_row_},
          {"skipped", skipped_},
          {"returns", returns_},
          {"rate_scale", rate_scale_}};
}

void DivergenceGuard::from_json(const nlohmann::json& saved) {
  mean_ = saved.at("mean");
  variance_ = saved.at("variance");
  seen_ = saved.at("seen");
  in_a_row_ = saved.at("in_a_row");
  skipped_ = saved.at("skipped");
  returns_ = saved.at("returns");
  rate_scale_ = saved.at("rate_scale");
}

}  // namespace dragoman
