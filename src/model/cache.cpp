#include "model/cache.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace dragoman {
namespace {

// Rows are numbered by 32 bits.
void check_rows(int64_t slots, int64_t capacity) {
  if (slots * capacity <= INT32_MAX) return;
  throw Error(
      "a search of {} hypotheses at once with {} tokens each is too large: take a smaller batch or beam",
      slots, capacity);
}

}  // namespace

Cache::Cache(Pool& pool, int64_t layers, int64_t slots_, int64_t capacity_, int64_t d_model)
    : slots(slots_), capacity(capacity_) {
  check_rows(slots, capacity);
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

void reserve(Device& device, Cache& cache, int64_t length) {
  if (length <= cache.capacity) return;
  const int64_t old = cache.capacity;
  cache.capacity = std::max(length, 2 * old);
  check_rows(cache.slots, cache.capacity);
  const Array<int32_t> to(device.pool, cache.slots * old);
  for (int64_t row = 0; row < to.size(); ++row)
    to.data()[row] = static_cast<int32_t>(row / old * cache.capacity + row % old);
  for (Tensor& layer : cache.key_values) {
    const Tensor grown(device.pool, cache.slots * cache.capacity, layer.columns());
    device.kernels.scatter_rows(device.context, layer, to.data(), grown.matrix());
    layer = grown;
  }
}

void store(Device& device, const Memory& memory, Cache& cache, std::span<const int32_t> slots) {
  const auto spans = memory.spans->spans.values();
  CHECK(spans.size() == slots.size(), "{} sentences for {} slots", spans.size(), slots.size());
  reserve(device, cache, memory.spans->longest);
  std::vector<int32_t> rows;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Span place = cache.span(slots[i], spans[i].length);
    for (int32_t t = 0; t < place.length; ++t) rows.push_back(place.begin + t);
  }
  const Array<int32_t> to(device.pool, rows);
  for (size_t layer = 0; layer < cache.key_values.size(); ++layer) {
    device.kernels.scatter_rows(device.context, memory.key_values[layer], to.data(),
                                cache.key_values[layer].matrix());
  }
}

void copy_slots(Device& device, Cache& cache, std::span<const SlotCopy> copies) {
  const auto capacity = static_cast<int32_t>(cache.capacity);
  for (const SlotCopy& copy : copies) {
    const Array<int32_t> to(device.pool, copy.length);
    std::iota(to.data(), to.data() + copy.length, copy.to * capacity);
    for (const Tensor& layer : cache.key_values) {
      device.kernels.scatter_rows(device.context, layer.row_range(copy.from * capacity, copy.length),
                                  to.data(), layer.matrix());
    }
  }
}

}  // namespace dragoman
