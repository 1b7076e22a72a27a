// Pass: one computation of a model, forward. Where it runs, whether its gradients will be asked for, and what
// the masks of its dropouts depend on.
#pragma once

#include <cstdint>

#include "tensor/device.h"
#include "tensor/tape.h"
#include "tensor/tokens.h"

namespace dragoman {

struct Pass {
  Device& device;
  Tape* tape = nullptr;  // null: nothing is recorded, and nothing is dropped
  uint64_t seed = 0;
  uint64_t update = 0;  // the number of the update that the gradients are for
  uint32_t ops = 0;     // dropouts seen so far, in the order of the program

  // The next op's own mask over these rows; none without a tape.
  Dropout dropout(float rate, const Array<RowKey>& rows);
};

}  // namespace dragoman
