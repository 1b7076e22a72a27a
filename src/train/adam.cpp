#include "train/adam.h"

#include <cmath>

namespace dragoman::internal {

Adam::Adam(Device& device, Parameters& parameters, const AdamOptions& options, const Moves& moves)
    : device_(device),
      parameters_(parameters),
      options_(options),
      first_moments_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())),
      second_moments_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())) {
  forget();
  if (!moves) {
    ranges_ = {{0, parameters.trained_size()}};
    return;
  }
  for (const Parameter& parameter : parameters.list())
    if (!parameter.constant && moves(parameter))
      ranges_.push_back({parameter.offset, parameter.offset + parameter.size()});
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
  for (const auto [begin, end] : ranges_) {
    device_.kernels.adam(device_.context, end - begin, adam, static_cast<float>(gradient_scale),
                         parameters_.gradients().data() + begin, parameters_.weights().data() + begin,
                         first_moments_.data() + begin, second_moments_.data() + begin);
  }
  parameters_.changed();
}

}  // namespace dragoman::internal
