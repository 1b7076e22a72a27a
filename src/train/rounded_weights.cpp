#include "train/rounded_weights.h"

#include "model/decoding_weights.h"

namespace dragoman::internal {

RoundedWeights::RoundedWeights(Device& device, Parameters& parameters) : own_(device, parameters) {
  round_weights_to_int8(device, parameters);
}

}  // namespace dragoman::internal
