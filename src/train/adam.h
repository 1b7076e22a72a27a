// Adam (Kingma and Ba, 2015) over a model's flat buffers, in one pass.
#pragma once

#include "nn/parameters.h"

namespace dragoman {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;
};

class Adam {
 public:
  Adam(Device& device, Parameters& parameters, const AdamOptions& options);

  // Update number `step` (from 1) with the gradients times gradient_scale.
  void update(int64_t step, double learning_rate, double gradient_scale);

 private:
  Device& device_;
  Parameters& parameters_;
  AdamOptions options_;
  Tensor first_moments_, second_moments_;
};

}  // namespace dragoman
