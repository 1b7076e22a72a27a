// Pass: one forward computation of a model: its device, its tape if gradients will be computed, the precision of its
// products, and what its dropout masks depend on.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/device.h"
#include "tensor/tape.h"
#include "tensor/tokens.h"

namespace dragoman::internal {

// Collects the attention_weights of each attention of a pass, in the order of the program.
struct AttentionProbe {
  int64_t only = -1;  // the number of the wanted one; −1: all
  int64_t seen = 0;
  std::vector<Tensor> weights;
};

// Guided alignment: the links that the first head of one cross-attention learns, and its losses by them, once it has
// run (guided_attention in ops.h).
struct GuidedAlignment {
  int64_t layer = 1;  // of the decoder, from 1 on
  float weight = 1;
  TokenLinks links;
  Tensor losses = {};
};

struct Trace;

struct Pass {
  Device& device;
  Tape* tape = nullptr;                   // null: no backward, and no dropout
  Precision precision = Precision::fp32;  // or bf16, for the operands of large products: with a tape
  uint64_t seed = 0;
  uint64_t update = 0;                // the number of the update that the gradients are for
  uint32_t ops = 0;                   // dropouts so far, in the order of the program
  AttentionProbe* probe = nullptr;    // collects attention weights, unless null
  Trace* trace = nullptr;             // keeps what the ops read and wrote, unless null (ops/trace.h)
  GuidedAlignment* guided = nullptr;  // null: nothing guides the attention

  // The next op's mask over these rows; none without a tape.
  Dropout dropout(float rate, const Array<RowKey>& rows);
};

}  // namespace dragoman::internal
