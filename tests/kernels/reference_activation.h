// Activations by their formulas, in 64 bits.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace dragoman::internal {

inline double gelu_tanh_argument(double x) { return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x); }

inline double reference_activation(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return std::max(x, 0.0);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(gelu_tanh_argument(x)));
    case Activation::gelu_sigmoid:
      return x / (1 + std::exp(-1.702 * x));
    case Activation::swish:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

}  // namespace dragoman::internal
