// The key/value cache of decoding.
//
// The keys and values of a token, or a recurrent unit's state after it, are one row of a cache, and CacheRows counts
// the hypotheses that use it: those with a common prefix share its rows. So a search that reorders its beam copies
// nothing.
#pragma once

#include <span>
#include <vector>

#include "tensor/tensor.h"
#include "tensor/tokens.h"

namespace dragoman::internal {

// Reference counts of rows. Several caches may share one numbering.
class CacheRows {
 public:
  int32_t take();                                                      // an unused row, with one user now
  void share(std::span<const int32_t> rows);                           // each has one user more
  void release(std::span<const int32_t> rows);                         // one less
  int64_t size() const { return static_cast<int64_t>(uses_.size()); }  // every row is below this
  int64_t in_use() const { return size() - static_cast<int64_t>(free_.size()); }

 private:
  std::vector<int32_t> uses_, free_;
};

// A tensor for each layer: of the target tokens so far, or of the sources for cross-attention.
struct Cache {
  int64_t rows = 0;
  std::vector<Tensor> key_values;  // rows × (keys | values), or states
};

// Grows the cache to at least this many rows, and keeps their values.
void reserve(Device&, Cache&, int64_t rows);

// The rows that each sentence attends to, in the order of its tokens: spans of a list.
struct KeyRows {
  Spans spans;
  Array<int32_t> rows;
};
KeyRows key_rows(Device&, std::span<const std::span<const int32_t>> sentences);

// The encoder's output (the decoder's memory), and which of its rows each sentence of the target attends to. Training
// has no key_values: each layer computes its own.
struct EncodedSource {
  Tensor encoded;
  const Spans* spans = nullptr;
  const Array<int32_t>* rows = nullptr;  // unless null, spans are of this list of rows
  std::vector<Tensor> key_values;        // of each layer: source tokens × (keys | values)
};

// Where the keys and values of one step's tokens go, and what each token attends to.
struct CacheStep {
  Cache* cache;
  Array<int32_t> rows;
  KeyRows keys;
};

// A step that adds one token to each sentence: the last of its rows is the new token's.
CacheStep cache_step(Device&, Cache&, std::span<const std::span<const int32_t>> sentences);

}  // namespace dragoman::internal
