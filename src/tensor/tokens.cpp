#include "tensor/tokens.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::internal {

Spans::Spans(Pool& pool, std::span<const Span> host) : spans(pool, host) {
  for (const Span& span : host) {
    longest = std::max<int64_t>(longest, span.length);
    rows += span.length;
  }
}

Tokens pack_tokens(Device& device, std::span<const int32_t> ids, std::span<const int32_t> lengths,
                   std::span<const uint64_t> pairs, std::span<const int32_t> first_positions) {
  CHECK(lengths.size() == pairs.size(), "{} lengths for {} pairs", lengths.size(), pairs.size());
  CHECK(first_positions.empty() || first_positions.size() == lengths.size(), "{} positions for {} sentences",
        first_positions.size(), lengths.size());
  Tokens tokens = {.ids = Array<int32_t>(device.pool, ids),
                   .rows = Array<RowKey>(device.pool, static_cast<int64_t>(ids.size())),
                   .spans = {}};
  tokens.spans.spans = Array<Span>(device.pool, static_cast<int64_t>(lengths.size()));
  tokens.spans.rows = tokens.count();
  const HostView<RowKey> rows = tokens.rows.new_values();
  const HostView<Span> spans = tokens.spans.spans.new_values();
  size_t row = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    spans[i] = {static_cast<int32_t>(row), lengths[i]};
    const int32_t first = first_positions.empty() ? 0 : first_positions[i];
    for (int32_t t = 0; t < lengths[i]; ++t) {
      CHECK(row < ids.size(), "lengths go beyond the {} ids", ids.size());
      rows[row++] = {pairs[i], static_cast<uint32_t>(first + t)};
    }
    tokens.spans.longest = std::max<int64_t>(tokens.spans.longest, lengths[i]);
    if (lengths[i] > 0) tokens.positions = std::max<int64_t>(tokens.positions, first + lengths[i]);
  }
  CHECK(row == ids.size(), "lengths add up to {} of {} ids", row, ids.size());
  return tokens;
}

TokenLinks::TokenLinks(Pool& pool, std::span<const int32_t> counts, std::span<const int32_t> linked)
    : begins(pool, static_cast<int64_t>(counts.size()) + 1), keys(pool, linked) {
  const HostView<int32_t> values = begins.new_values();
  int32_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    values[i] = sum;
    sum += counts[i];
  }
  CHECK(sum == std::ssize(linked), "counts of {} links, not {}", sum, linked.size());
  values[counts.size()] = sum;
}

}  // namespace dragoman::internal
