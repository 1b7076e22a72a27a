// What decoding remembers between two steps.
//
// The keys and values of a token stand in one row of a cache, and CacheRows counts who uses it: hypotheses that begin
// alike share the rows of their beginning. So nothing is copied when a search changes its mind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/ops.h"

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
class Cache {
 public:
  Cache(Device& device, Precision precision, int64_t layers, int64_t heads, int64_t width);

  void reserve(int64_t rows);  // room for so many: what is there stays
  // Of a layer, tokens × (keys | values) go to these rows, for which there is room.
  void store(size_t layer, const Tensor& keys_values, const Array<int32_t>& rows);
  KeyCache layer(size_t index) const;

 private:
  int64_t row_bytes() const { return shape_.heads * 2 * shape_.key_bytes; }

  Device* device_;
  KeyCache shape_;  // of every layer, without its data
  int64_t rows_ = 0;
  std::vector<Array<std::byte>> layers_;
};

// The rows that each of these sentences attends to.
KeyRows key_rows(Device&, std::span<const std::span<const int32_t>> sentences);

// What the decoder knows of the sources: either the encoder's output, of which each layer computes its keys and values
// on the way, and the rows of it that each sentence of the target attends to; or a cache of keys and values, and the
// rows of that.
struct Memory {
  Tensor encoded;
  const Spans* spans = nullptr;
  const Cache* cache = nullptr;
  const KeyRows* keys = nullptr;
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
