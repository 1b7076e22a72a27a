#include "nn/kept_weights.h"

namespace dragoman::internal {

KeptWeights::KeptWeights(Device& device, Parameters& parameters)
    : parameters_(parameters), own_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())) {
  device.memory.copy(own_.data(), parameters.weights().data(), parameters.weights().size_bytes());
}

KeptWeights::~KeptWeights() {
  const auto weights = parameters_.weights();
  parameters_.memory().copy(weights.data(), own_.data(), weights.size_bytes());
  parameters_.changed();
}

}  // namespace dragoman::internal
