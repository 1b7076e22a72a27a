// What parameters have when they are to have other weights for a while: as long as this object lives.
#pragma once

#include "nn/parameters.h"
#include "tensor/device.h"

namespace dragoman::internal {

class KeptWeights {
 public:
  KeptWeights(Device& device, Parameters& parameters);
  KeptWeights(const KeptWeights&) = delete;
  KeptWeights& operator=(const KeptWeights&) = delete;
  ~KeptWeights();  // they have their own again

 private:
  Parameters& parameters_;
  Tensor own_;  // flat
};

}  // namespace dragoman::internal
