// What decoding remembers between two steps.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/tokens.h"

namespace dragoman {

// The encoder's output, and which of its rows each sentence of the target attends to. Training has no
// key_values: each layer computes its own on the way.
struct Memory {
  Tensor encoded;
  const Spans* spans = nullptr;
  std::vector<Tensor> key_values;  // a layer each: source tokens × (keys | values)
};

// The keys and values of the targets so far: a layer each, `slots` sentences of at most `capacity` tokens.
struct Cache {
  Cache(Pool& pool, int64_t layers, int64_t slots, int64_t capacity, int64_t d_model);

  int64_t capacity;
  std::vector<Tensor> key_values;  // (slots · capacity) × (keys | values)
};

// Where the rows of one step go in the cache, and which of its rows each may look at.
struct CacheStep {
  Cache* cache;
  Array<int32_t> rows;
  Spans keys;
};

// A step in which sentence i adds its token number lengths[i] to slot slots[i].
CacheStep cache_step(Device&, Cache&, std::span<const int32_t> slots, std::span<const int32_t> lengths);

}  // namespace dragoman
