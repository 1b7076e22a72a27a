#include "tensor/tokens.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

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
  Array<Span> spans(device.pool, static_cast<int64_t>(lengths.size()));
  Array<RowKey> rows(device.pool, static_cast<int64_t>(ids.size()));
  size_t row = 0;
  int64_t positions = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    spans.data()[i] = {static_cast<int32_t>(row), lengths[i]};
    const int32_t first = first_positions.empty() ? 0 : first_positions[i];
    for (int32_t t = 0; t < lengths[i]; ++t) {
      CHECK(row < ids.size(), "lengths go beyond the {} ids", ids.size());
      rows.data()[row++] = {pairs[i], static_cast<uint32_t>(first + t)};
    }
    if (lengths[i] > 0) positions = std::max<int64_t>(positions, first + lengths[i]);
  }
  CHECK(row == ids.size(), "lengths add up to {} of {} ids", row, ids.size());
  Tokens tokens;
  tokens.ids = Array<int32_t>(device.pool, ids);
  tokens.rows = std::move(rows);
  tokens.spans.spans = std::move(spans);
  for (const int32_t length : lengths) tokens.spans.longest = std::max<int64_t>(tokens.spans.longest, length);
  tokens.spans.rows = tokens.count();
  tokens.positions = positions;
  return tokens;
}

}  // namespace dragoman
