// What decoding remembers between two steps.
//
// The keys and values of a token stand in one row of a cache, and CacheRows counts who uses it: hypotheses that begin
// alike share the rows of their beginning. So nothing is copied when a search changes its mind.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/tokens.h"

namespace dragoman {

// Which rows are in use, and by how many. One numbering may serve several caches.
class CacheRows {
 public:
  int32_t take();                               // a row that nobody uses, used once from here on
  void share(std::span<const int32_t> rows);    // each is used once more
  void release(std::span<const int32_t> rows);  // once less
  int64_t size() const { return static_cast<int64_t>(uses_.size()); }  // every row is below this
  int64_t in_use() const { return size() - static_cast<int64_t>(free_.size()); }

 private:
  std::vector<int32_t> uses_, free_;
};

// Keys and values by rows, a layer each: the targets' tokens so far, or what cross-attention sees of the sources.
struct Cache {
  int64_t rows = 0;
  std::vector<Tensor> key_values;  // rows × (keys | values)
};
Cache make_cache(Pool& pool, int64_t layers, int64_t d_model);

// Room for so many rows: what is there stays.
void reserve(Device&, Cache&, int64_t rows);

// The rows that each sentence attends to, in the order of its tokens: spans of a list.
struct KeyRows {
  Spans spans;
  Array<int32_t> rows;
};
KeyRows key_rows(Device&, std::span<const std::span<const int32_t>> sentences);

// The encoder's output, and which of its rows each sentence of the target attends to. Training has no
// key_values: each layer computes its own on the way.
struct Memory {
  Tensor encoded;
  const Spans* spans = nullptr;
  const Array<int32_t>* rows = nullptr;  // where not null, spans are of this list of rows
  std::vector<Tensor> key_values;        // a layer each: source tokens × (keys | values)
};

// Where the keys and values of one step's tokens go, and what each may look at.
struct CacheStep {
  Cache* cache;
  Array<int32_t> rows;
  KeyRows keys;
};

// A step in which each sentence has one more token: the last of its rows is the new one's.
CacheStep cache_step(Device&, Cache&, std::span<const std::span<const int32_t>> sentences);

}  // namespace dragoman
