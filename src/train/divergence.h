// DivergenceGuard: decides before each update whether it may change the weights.
//
// NaN, infinity, or a loss that is an outlier or far above the first one count as divergence: the weights stay
// unchanged and the batch is skipped. After several in a row the run rolls back to its last good checkpoint with half
// the learning rate; after several rollbacks training stops with an error. recovery.h does what the guard decides.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "nn/parameters.h"

namespace dragoman::internal {

class DivergenceGuard {
 public:
  enum class Verdict { good, skip, rollback, stop };

  // Judges an update by its loss per token and the norm of its gradient, and keeps statistics of the good ones.
  Verdict judge(double loss, double gradient_norm);

  // Handles weights that became unusable although their updates looked good: rollback or stop.
  Verdict reject();

  // What was wrong with the last update: "the loss is nan; decoder.… has a weight of 1e+30".
  const std::string& reason() const { return reason_; }
  // Adds to the reason the tensor with the largest gradient; or, since a loss that is not finite leaves no gradient
  // that is, the one with the largest weight.
  void blame(const Parameters& parameters);

  double rate_scale() const { return rate_scale_; }  // factor of the learning rate
  int64_t skipped() const { return skipped_; }       // updates in all

  // After a rollback the statistics are those of the older state; the counters of failures continue.
  void keep_counters_of(const DivergenceGuard& later);

  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved);

 private:
  bool is_outlier(double loss) const;
  void add_to_statistics(double loss);

  double first_ = 0;                // loss
  double mean_ = 0, variance_ = 0;  // of the loss, over about the last hundred updates
  int64_t seen_ = 0;
  int64_t in_a_row_ = 0, skipped_ = 0, rollbacks_ = 0;
  double rate_scale_ = 1;
  bool loss_is_finite_ = true;  // in the last update
  std::string reason_;
};

}  // namespace dragoman::internal
