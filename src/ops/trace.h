// Trace: what the ops of a pass read and wrote, in the order of the program, so that all of a computation's numbers can
// be shown.
//
// An entry is found by what it has in common with another, or with the model: the parameter that it multiplies by, the
// tensor that it reads. Its handles keep the memory of every activation: for short passes without a tape.
#pragma once

#include <vector>

#include "ops/ops.h"

namespace dragoman::internal {

struct Trace {
  struct Embedding {
    Tensor table, positions;  // positions: nothing where none are added
    EmbedOptions options;
    Tensor y;
  };
  struct Product {
    Tensor x, weight, y;  // y: after the activation
  };
  struct Norm {
    Tensor gain;
    Tensor residual, branch;  // the sum's terms; nothing where it was not added here
    Tensor sum, normed;
  };
  struct Attention {
    Tensor q, k, v;
    AttentionOptions options;  // whose spans are those of the pass's tokens
    Tensor heads;
  };
  struct Recurrence {
    Tensor gate_and_input;
    StatesAndOutput result;
  };
  std::vector<Embedding> embeddings;
  std::vector<Product> products;
  std::vector<Norm> norms;
  std::vector<Attention> attentions;
  std::vector<Recurrence> recurrences;
};

}  // namespace dragoman::internal
