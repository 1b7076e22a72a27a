// DivergenceGuard: decides in the step itself whether an update may touch the weights.
//
// Not-a-number, infinity, or a loss far outside its history or far above the first is a divergence: the weights stay as
// they are and the batch is skipped. Several in a row: back to the last good state with half the learning rate. After
// some of these, training stops and says why.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "nn/parameters.h"

namespace dragoman {

class DivergenceGuard {
 public:
  enum class Verdict { good, skip, go_back, give_up };

  // Judges an update by its loss per token and the norm of its gradient, and remembers what it saw.
  Verdict judge(double loss, double gradient_norm);

  // What was wrong with the last one: "the loss is nan; decoder.… has a weight of 1e+30".
  const std::string& reason() const { return reason_; }
  // Adds the tensor with the largest gradient; or, where the loss is no number, and so no gradient either, with the
  // largest weight.
  void blame(const Parameters& parameters);

  double rate_scale() const { return rate_scale_; }  // to be multiplied with the learning rate
  int64_t skipped() const { return skipped_; }       // updates in all

  // After going back, the guard's memory is the older state's, but not its patience.
  void keep_patience_of(const DivergenceGuard& later);

  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& saved);

 private:
  bool is_far_outside(double loss) const;
  void remember(double loss);

  double first_ = 0;                // loss
  double mean_ = 0, variance_ = 0;  // of the loss, over about the last hundred updates
  int64_t seen_ = 0;
  int64_t in_a_row_ = 0, skipped_ = 0, returns_ = 0;
  double rate_scale_ = 1;
  bool has_loss_ = true;  // the last update's was finite
  std::string reason_;
};

}  // namespace dragoman
