// Adam (Kingma and Ba, 2015) over a model's flat buffers, in one pass, or over the parts that another optimiser leaves.
#pragma once

#include <functional>
#include <vector>

#include "nn/parameters.h"

namespace dragoman::internal {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
  double weight_decay = 0;  // AdamW's (Loshchilov and Hutter, 2019)
};

class Adam {
 public:
  using Moves = std::function<bool(const Parameter&)>;

  // Moves all parameters that are trained, or those of them that `moves` says.
  Adam(Device& device, Parameters& parameters, const AdamOptions& options, const Moves& moves = {});

  // Update number `step` (from 1) with the gradients times gradient_scale.
  void update(int64_t step, double learning_rate, double gradient_scale);

  // Sets the moments to zero.
  void forget();

  // Device memory, flat, laid out as the weights are. The first moments are a mean of gradients, and also hold another
  // optimiser's momentum.
  std::span<float> first_moments() const { return {first_moments_.data(), parameters_.weights().size()}; }
  std::span<float> second_moments() const { return {second_moments_.data(), parameters_.weights().size()}; }

 private:
  Device& device_;
  Parameters& parameters_;
  AdamOptions options_;
  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges_;  // of the flat buffers
  Tensor first_moments_, second_moments_;
};

}  // namespace dragoman::internal
