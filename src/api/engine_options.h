// Options of everything that opens a model to translate with it: the commands and the server.
#pragma once

#include <cstdint>

#include "base/options.h"

namespace dragoman::internal {

void declare_threads(Section& own, int64_t& threads);
void declare_batch(Section& own, int64_t& batch);
void declare_workers(Section& own, int64_t& workers);

// The library's precision, or the engine's.
template <class Precision>
void declare_precision(Section& own, Precision& precision) {
  own.add("precision", precision, "precision of the weights; auto: as in the model folder",
          {{"auto", Precision::as_saved},
           {"fp32", Precision::fp32},
           {"bf16", Precision::bf16},
           {"int8", Precision::int8}});
}

}  // namespace dragoman::internal
