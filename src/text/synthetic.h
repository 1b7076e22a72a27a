// Corpora that are made up as they are needed: tasks that show whether a model learns at all.
#pragma once

#include <cstdint>

#include "text/batch.h"

namespace dragoman {

// The Annotated Transformer's copy task: sentences of `length` symbols of 1 … symbols − 1, of which the first is
// always the start symbol 1, and the target is the source. There is no end mark.
struct CopyTask {
  int64_t symbols = 11;
  int64_t length = 10;
  int64_t sentences = 30;  // a batch
  uint64_t seed = 1;

  // Batch number `index` of all that there could be.
  Batch batch(uint64_t index) const;
};

}  // namespace dragoman
