#include "train/adam.h"

#include <cmath>

namespace dragoman::internal {

Adam::Adam(Device& device, Parameters& parameters, const AdamOptions& options)
    : device_(device),
      parameters_(parameters),
      options_(options),
      first_moments_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())),
      second_moments_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())) {
  forget();
}

void Adam::forget() {
  device_.memory.fill(first_moments_.matrix(), 0);
  device_.memory.fill(second_moments_.matrix(), 0);
}

void Adam::update(int64_t step, double learning_rate, double gradient_scale) {
  const AdamStep adam = {
      .learning_rate = static_cast<float>(learning_rate),
      .beta1 = static_cast<float>(options_.beta1),
      .beta2 = static_cast<float>(options_.beta2),
      .epsilon = static_cast<float>(options_.epsilon),
      .correction1 = static_cast<float>(1 - std::pow(options_.beta1, step)),
      .correction2 = static_cast<float>(1 - std::pow(options_.beta2, step)),
      .weight_decay = static_cast<float>(options_.weight_decay),
  };
  device_.kernels.adam(device_.context, parameters_.trained_size(), adam, static_cast<float>(gradient_scale),
                       parameters_.gradients().data(), parameters_.weights().data(), first_moments_.data(),
                       second_moments_.data());
  parameters_.changed();
}

}  // namespace dragoman::internal
