// Training for int8: while this object lives, the model has its weights as the int8 model will have them, in floats;
// then it has its own again.
//
// Gradients are taken at the rounded weights and change the own ones, as if rounding had the derivative 1 (the
// straight-through estimator: Bengio et al., 2013). Activations are not rounded.
#pragma once

#include "nn/kept_weights.h"

namespace dragoman::internal {

class RoundedWeights {
 public:
  RoundedWeights(Device& device, Parameters& parameters);

 private:
  KeptWeights own_;
};

}  // namespace dragoman::internal
