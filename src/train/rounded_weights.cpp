#include "train/rounded_weights.h"

#include "kernels/low_precision.h"
#include "model/low_precision_file.h"

namespace dragoman::internal {

RoundedWeights::RoundedWeights(Device& device, Parameters& parameters)
    : parameters_(parameters), own_(device.pool, 1, static_cast<int64_t>(parameters.weights().size())) {
  device.memory.copy(own_.data(), parameters.weights().data(), parameters.weights().size_bytes());
  CpuContext host(device.context.threads());
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) continue;
    const HostView<float> values = parameter.value.writable_values();
    round_to_int8(host, operand_of(parameter, values.data()), values.data());
  }
  parameters.changed();
}

RoundedWeights::~RoundedWeights() {
  const auto weights = parameters_.weights();
  parameters_.memory().copy(weights.data(), own_.data(), weights.size_bytes());
  parameters_.changed();
}

}  // namespace dragoman::internal
