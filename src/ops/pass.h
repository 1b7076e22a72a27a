// Pass: one computation of a model, forward. Where it runs, whether its gradients will be asked for, how it multiplies,
// and what the masks of its dropouts depend on.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/device.h"
#include "tensor/tape.h"
#include "tensor/tokens.h"

namespace dragoman {

// What a pass leaves behind for somebody who wants to see what it attended to: the attention_weights of each of its
// attentions, in the order of the program.
struct AttentionProbe {
  int64_t only = -1;  // the number of the one that is wanted; −1: all
  int64_t seen = 0;
  std::vector<Tensor> weights;
};

struct Pass {
  Device& device;
  Tape* tape = nullptr;                   // null: nothing is recorded, and nothing is dropped
  Precision precision = Precision::fp32;  // or bf16, of large products' operands: for passes with a tape
  uint64_t seed = 0;
  uint64_t update = 0;              // the number of the update that the gradients are for
  uint32_t ops = 0;                 // dropouts seen so far, in the order of the program
  AttentionProbe* probe = nullptr;  // keeps what is attended to, if anyone wants to see it

  // The next op's own mask over these rows; none without a tape.
  Dropout dropout(float rate, const Array<RowKey>& rows);
};

}  // namespace dragoman
