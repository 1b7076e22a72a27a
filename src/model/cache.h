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

// Keys and values that stay while sentences come and go: a layer each, `slots` sentences of at most `capacity` tokens.
// One holds the targets' so far, another what cross-attention sees of the sources.
struct Cache {
  Cache(Pool& pool, int64_t layers, int64_t slots, int64_t capacity, int64_t d_model);

  // The rows of a slot's first `length` tokens.
  Span span(int32_t slot, int32_t length) const { return {slot * static_cast<int32_t>(capacity), length}; }

  int64_t slots, capacity;
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

// Room for `length` tokens in every slot, at least twice what there was: sentences stay, their rows move.
void reserve(Device&, Cache&, int64_t length);

// Copies a memory's keys and values into slots, a sentence each.
void store(Device&, const Memory&, Cache&, std::span<const int32_t> slots);

// Slot `to` gets the first `length` tokens of slot `from`. For one step of a search: no slot is read and written.
struct SlotCopy {
  int32_t from, to;
  int32_t length = 0;
};
void copy_slots(Device&, Cache&, std::span<const SlotCopy> copies);

}  // namespace dragoman
