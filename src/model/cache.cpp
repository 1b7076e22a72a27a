#include "model/cache.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

Cache::Cache(Pool& pool, int64_t layers, int64_t slots, int64_t capacity_, int64_t d_model)
    : capacity(capacity_) {
  for (int64_t i = 0; i < layers; ++i) key_values.emplace_back(pool, slots * capacity, 2 * d_model);
}

CacheStep cache_step(Device& device, Cache& cache, std::span<const int32_t> slots,
                     std::span<const int32_t> lengths) {
  const auto count = static_cast<int64_t>(slots.size());
  CacheStep step = {.cache = &cache, .rows = Array<int32_t>(device.pool, count), .keys = {}};
  step.keys.spans = Array<Span>(device.pool, count);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t length = lengths[static_cast<size_t>(i)];
    CHECK(length < cache.capacity, "token {} of a cache for {}", length, cache.capacity);
    const int32_t begin = slots[static_cast<size_t>(i)] * static_cast<int32_t>(cache.capacity);
    step.rows.data()[i] = begin + length;
    step.keys.spans.data()[i] = {begin, length + 1};
    step.keys.longest = std::max<int64_t>(step.keys.longest, length + 1);
  }
  return step;
}

}  // namespace dragoman
