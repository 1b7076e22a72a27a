// The caches that decoding with a model keeps, still empty: of keys and values in bf16 alone, half as large, where its
// weights are in bf16 and the device attends so. Defined in transformer.cpp.
#pragma once

#include "model/cache.h"

namespace dragoman::internal {

struct Transformer;

Numbers source_cache_numbers(const Transformer&);
Numbers target_cache_numbers(const Transformer&);

Cache source_cache(const Transformer&);  // for cross-attention
Cache target_cache(const Transformer&);  // for self-attention, or what is there instead

}  // namespace dragoman::internal
