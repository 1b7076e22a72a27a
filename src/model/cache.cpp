#include "model/cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr int64_t fewest_rows = 256;

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

int32_t CacheRows::take() {
  if (free_.empty()) {
    if (size() == INT32_MAX)
      throw Error("the search keeps too many tokens at once: take a smaller batch or beam");
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

Cache::Cache(Device& device, Precision precision, int64_t layers, int64_t heads, int64_t width)
    : device_(&device),
      shape_{.precision = precision,
             .data = nullptr,
             .heads = heads,
             .width = width,
             .key_bytes = round_up(width * (precision == Precision::bf16 ? 2 : 4), 64)},
      layers_(static_cast<size_t>(layers)) {}

void Cache::reserve(int64_t rows) {
  if (rows <= rows_) return;
  const int64_t more = std::max({rows, rows_ + rows_ / 2, fewest_rows});
  for (Array<std::byte>& layer : layers_) {
    Array<std::byte> grown(device_->pool, more * row_bytes());
    if (rows_ > 0) std::memcpy(grown.data(), layer.data(), static_cast<size_t>(rows_ * row_bytes()));
    layer = std::move(grown);
  }
  rows_ = more;
}

KeyCache Cache::layer(size_t index) const {
  KeyCache cache = shape_;
  cache.data = layers_[index].data();
  return cache;
}

void Cache::store(size_t index, const Tensor& keys_values, const Array<int32_t>& rows) {
  CHECK(keys_values.rows() == rows.size(), "{} tokens for {} rows", keys_values.rows(), rows.size());
  CHECK(keys_values.columns() == 2 * shape_.heads * shape_.width, "keys and values of {} columns",
        keys_values.columns());
  CHECK(std::ranges::all_of(rows.values(), [&](int32_t row) { return row >= 0 && row < rows_; }),
        "a row beyond {}", rows_);
  device_->kernels.store_keys(device_->context, keys_values, rows.data(), layer(index));
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
  cache.reserve(std::ranges::max(newest) + 1);
  return {.cache = &cache, .rows = Array<int32_t>(device.pool, newest), .keys = key_rows(device, sentences)};
}

}  // namespace dragoman
