#include "model/cache.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {
namespace {

constexpr int64_t min_rows = 256;

}  // namespace

int32_t CacheRows::take() {
  if (free_.empty()) {
    if (size() == INT32_MAX)
      throw Error("the search has too many tokens in its cache: use a smaller batch or beam");
    free_.push_back(static_cast<int32_t>(size()));
    uses_.push_back(0);
  }
  const int32_t row = free_.back();
  free_.pop_back();
  uses_[static_cast<size_t>(row)] = 1;
  return row;
}

void CacheRows::share(std::span<const int32_t> rows) {
  for (const int32_t row : rows) ++uses_[static_cast<size_t>(row)];
}

void CacheRows::release(std::span<const int32_t> rows) {
  for (const int32_t row : rows) {
    CHECK(uses_[static_cast<size_t>(row)] > 0, "row {} is released once too often", row);
    if (--uses_[static_cast<size_t>(row)] == 0) free_.push_back(row);
  }
}

void reserve(Device& device, Cache& cache, int64_t rows) {
  if (rows <= cache.rows) return;
  const int64_t old = cache.rows;
  cache.rows = std::max({rows, old + old / 2, min_rows});
  for (Tensor& layer : cache.key_values) {
    const bool in_bf16 = layer.is_in_bf16();
    const Tensor grown(device.pool, cache.rows, layer.columns(), in_bf16 ? Numbers::bf16 : Numbers::floats);
    const auto values = static_cast<size_t>(old * layer.columns());
    if (old > 0 && in_bf16) {
      device.memory.copy(grown.matrix().rounded, layer.matrix().rounded, values * sizeof(uint16_t));
    } else if (old > 0) {
      device.memory.copy(grown.data(), layer.data(), values * sizeof(float));
    }
    layer = grown;
  }
}

KeyRows key_rows(Device& device, std::span<const std::span<const int32_t>> sentences) {
  std::vector<Span> spans;
  std::vector<int32_t> all;
  for (const auto rows : sentences) {
    spans.push_back({static_cast<int32_t>(all.size()), static_cast<int32_t>(rows.size())});
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return {Spans(device.pool, spans), Array<int32_t>(device.pool, all)};
}

CacheStep cache_step(Device& device, Cache& cache, std::span<const std::span<const int32_t>> sentences) {
  std::vector<int32_t> newest;
  for (const auto rows : sentences) newest.push_back(rows.back());
  reserve(device, cache, std::ranges::max(newest) + 1);
  return {.cache = &cache, .rows = Array<int32_t>(device.pool, newest), .keys = key_rows(device, sentences)};
}

}  // namespace dragoman::internal
