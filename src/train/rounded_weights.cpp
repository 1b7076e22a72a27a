#include "train/rounded_weights.h"

#include "kernels/low_precision.h"
#include "model/low_precision_file.h"

namespace dragoman::internal {

RoundedWeights::RoundedWeights(Device& device, Parameters& parameters) : own_(device, parameters) {
  CpuContext host(device.context.threads());
  for (const Parameter& parameter : parameters.list()) {
    if (parameter.role == Role::plain) continue;
    const HostView<float> values = parameter.value.writable_values();
    round_to_int8(host, operand_of(parameter, values.data()), values.data());
  }
  parameters.changed();
}

}  // namespace dragoman::internal
