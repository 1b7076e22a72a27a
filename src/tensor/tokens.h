// The tokens of a packed batch on a device: the sentences stand end to end, and nothing is padded.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/array.h"
#include "tensor/device.h"

namespace dragoman::internal {

// Where each sentence's rows are. The spans follow one another.
struct Spans {
  Array<Span> spans;
  int64_t longest = 0;
  int64_t rows = 0;  // of all of them

  Spans() = default;
  Spans(Pool& pool, std::span<const Span> host);
  int64_t count() const { return spans.size(); }
};

struct Tokens {
  Array<int32_t> ids;
  Array<RowKey> rows;  // the pair and the position of each token
  Spans spans;
  int64_t positions = 0;  // the largest position + 1

  int64_t count() const { return ids.size(); }
};

// Sentences end to end: `lengths` splits `ids`, and sentence i is the pair pairs[i] of the corpus. Its first token has
// the position first_positions[i], by default 0.
Tokens pack_tokens(Device& device, std::span<const int32_t> ids, std::span<const int32_t> lengths,
                   std::span<const uint64_t> pairs, std::span<const int32_t> first_positions = {});

// Which tokens of the other side each token is linked to: those of token r are keys[begins[r]] to
// keys[begins[r + 1] - 1], numbers within the other side's sentence.
struct TokenLinks {
  Array<int32_t> begins, keys;

  TokenLinks() = default;
  TokenLinks(Pool& pool, std::span<const int32_t> counts, std::span<const int32_t> linked);
};

}  // namespace dragoman::internal
