#include "train/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <span>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace dragoman {
namespace {

constexpr int64_t history = 100;   // updates before a loss can be far outside, and about how many count
constexpr double deviations = 10;  // beyond which it is
constexpr double too_much = 100;   // a token beyond the first loss: a guess among a million words costs 14
constexpr int64_t skips_in_a_row = 3;  // then the last good state
constexpr int64_t max_returns = 3;     // then the end

// A number for readers, to whom the sign of what is no number says nothing.
std::string shown(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

}  // namespace

DivergenceGuard::Verdict DivergenceGuard::judge(double loss, double gradient_norm) {
  reason_.clear();
  has_loss_ = std::isfinite(loss);
  if (!has_loss_) {
    reason_ = fmt::format("the loss is {}", shown(loss));
  } else if (!std::isfinite(gradient_norm)) {
    reason_ = fmt::format("the gradient's norm is {}", shown(gradient_norm));
  } else if (is_far_outside(loss)) {
    reason_ = fmt::format("the loss is {} a token, after {} ± {}", shown(loss), shown(mean_),
                          shown(std::sqrt(variance_)));
  } else {
    remember(loss);
    in_a_row_ = 0;
    return Verdict::good;
  }
  ++skipped_;
  if (++in_a_row_ < skips_in_a_row) return Verdict::skip;
  in_a_row_ = 0;
  if (++returns_ > max_returns) return Verdict::give_up;
  rate_scale_ /= 2;
  return Verdict::go_back;
}

bool DivergenceGuard::is_far_outside(double loss) const {
  if (seen_ > 0 && loss > first_ + too_much) return true;
  return seen_ >= history && loss > mean_ + deviations * std::sqrt(variance_) + 0.5;
}

void DivergenceGuard::remember(double loss) {
  if (seen_ == 0) first_ = loss;
  const double weight = 1.0 / static_cast<double>(std::min(++seen_, history));
  const double difference = loss - mean_;
  mean_ += weight * difference;
  variance_ = (1 - weight) * (variance_ + weight * difference * difference);
}

// Where several numbers are not finite it is the last tensor of the model: backward carries them on to those before.
void DivergenceGuard::blame(const Parameters& parameters) {
  const std::string* name = nullptr;
  float largest = -1, value = 0;
  for (const Parameter& parameter : parameters.list() | std::views::reverse) {
    const float* values = has_loss_ ? parameter.value.gradient().data : parameter.value.data();
    const std::span device(values, static_cast<size_t>(parameter.size()));
    for (const float v : HostView<const float>(parameters.memory(), device)) {
      const float size = std::isfinite(v) ? std::abs(v) : std::numeric_limits<float>::infinity();
      if (size <= largest) continue;
      largest = size;
      value = v;
      name = &parameter.name;
    }
  }
  if (name == nullptr) return;
  reason_ += fmt::format("; {} has a {} of {}", *name, has_loss_ ? "gradient" : "weight",
                         shown(static_cast<double>(value)));
}

void DivergenceGuard::keep_patience_of(const DivergenceGuard& later) {
  in_a_row_ = later.in_a_row_;
  skipped_ = later.skipped_;
  returns_ = later.returns_;
  rate_scale_ = later.rate_scale_;
}

nlohmann::json DivergenceGuard::to_json() const {
  return {
      {"first", first_},       {"mean", mean_},       {"variance", variance_}, {"seen", seen_},
      {"in_a_row", in_a_row_}, {"skipped", skipped_}, {"returns", returns_},   {"rate_scale", rate_scale_}};
}

void DivergenceGuard::from_json(const nlohmann::json& saved) {
  mean_ = saved.at("mean");
  first_ = saved.value("first", mean_);
  variance_ = saved.at("variance");
  seen_ = saved.at("seen");
  in_a_row_ = saved.at("in_a_row");
  skipped_ = saved.at("skipped");
  returns_ = saved.at("returns");
  rate_scale_ = saved.at("rate_scale");
}

}  // namespace dragoman
