// What attention in bf16 is made of, forward and backward: tiles of 16 rows of one head, whose products the tensor
// cores compute. A lane reads eight columns of a row at once, straight from the GPU's memory into the registers where
// the tensor cores want them. What they take for columns 2t, 2t + 1, 2t + 8 and 2t + 9 of two products are then eight
// columns side by side: a sum over columns has any order, as long as both sides have the same.
#pragma once

#include "kernels/cuda/attention_tiles.inl.h"
#include "kernels/cuda/functions.inl.h"

namespace dragoman::internal {
namespace {

constexpr int tensor_rows = 16;  // of a tile
constexpr int tensor_keys = 64;  // whose dropout is decided at once
constexpr int key_tiles = tensor_keys / tensor_rows;

// Whether attention() computes heads of this width where q, k and v are in bf16 alone.
inline bool attends_in_bf16(int64_t width) { return width > 0 && width % 8 == 0 && width <= 128; }

struct TensorAttention {
  AttentionShape shape;
  DropoutMask mask;
  int parts;  // blocks of each head of a span
  ConstMatrix q, k, v;
};

// As head_of, with divisions of 32 bits.
GPU_FUNCTION SpanHead tensor_head_of(const AttentionShape& shape, int64_t block) {
  const uint32_t task = static_cast<uint32_t>(block), heads = static_cast<uint32_t>(shape.heads);
  const Span queries = shape.queries[task / heads], keys = shape.keys[task / heads];
  return {task % heads, queries, keys, keys.length - queries.length};
}

// The compiler knows that what follows from it is the same in all lanes.
GPU_FUNCTION int uniform_warp_index() { return shuffle(warp_index(), 0); }
GPU_FUNCTION int lane_row() { return lane() / 4; }
GPU_FUNCTION int lane_pair() { return lane() % 4; }

// --- rows -------------------------------------------------------------------------------------------

// A span's rows of a matrix, one head's columns.
struct HeadRows {
  const Bf16* data;
  uint32_t stride;
  int count, width;
};

GPU_FUNCTION HeadRows head_rows(ConstMatrix m, const Span& span, const SpanHead& head, int64_t width) {
  return {m.rounded + span.begin * m.row_stride + head.index * width, static_cast<uint32_t>(m.row_stride),
          span.length, static_cast<int>(width)};
}

// Columns [c, c + 8) of row r; zeros where there are none.
GPU_FUNCTION FourWords words_of(const HeadRows& rows, int r, int c) {
  const uint32_t place = static_cast<uint32_t>(r) * rows.stride + static_cast<uint32_t>(c);
  return load_words_if(r < rows.count && c < rows.width, rows.data + place);
}

// The same of rows in a list, as a cache's are.
struct ListedRows {
  const Bf16* data;
  const int32_t* list;
  int64_t stride;
  int count, width;
};

GPU_FUNCTION ListedRows listed_rows(ConstMatrix m, const int32_t* list, const Span& span,
                                    const SpanHead& head, int64_t width) {
  return {m.rounded + head.index * width, list + span.begin, m.row_stride, span.length,
          static_cast<int>(width)};
}

GPU_FUNCTION FourWords words_of(const ListedRows& rows, int r, int c) {
  const bool there = r < rows.count && c < rows.width;
  return load_words_if(there, rows.data + (there ? rows.list[r] * rows.stride + c : 0));
}

// A tile of rows as the left operand of products over columns: each of 16. `width`: of a head, with zeros after its own
// columns.
template <int width>
struct OwnRows {
  FourWords parts[width / 16];
};

template <int width>
GPU_FUNCTION OwnRows<width> own_rows_of(const HeadRows& rows, int first) {
  OwnRows<width> own;
#pragma unroll
  for (int c = 0; c < width / 32; ++c) {
    const int column = 32 * c + 8 * lane_pair();
    const FourWords g = words_of(rows, first + lane_row(), column),
                    g8 = words_of(rows, first + lane_row() + 8, column);
    own.parts[2 * c] = {{g.x[0], g8.x[0], g.x[1], g8.x[1]}};
    own.parts[2 * c + 1] = {{g.x[2], g8.x[2], g.x[3], g8.x[3]}};
  }
  return own;
}

// sums[j] += the products of the own rows with rows [first + 8j, first + 8j + 8) of the other side.
template <int width, int tiles, class Rows>
GPU_FUNCTION void add_row_products(const OwnRows<width>& own, const Rows& other, int first,
                                   float (*sums)[4]) {
  FourWords words[tiles][width / 32];
#pragma unroll
  for (int j = 0; j < tiles; ++j)
#pragma unroll
    for (int c = 0; c < width / 32; ++c)
      words[j][c] = words_of(other, first + 8 * j + lane_row(), 32 * c + 8 * lane_pair());
#pragma unroll
  for (int j = 0; j < tiles; ++j)
#pragma unroll
    for (int c = 0; c < width / 32; ++c)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        add_product(sums[j], own.parts[2 * c + half], words[j][c].x[2 * half], words[j][c].x[2 * half + 1]);
}

// --- weighted sums of rows --------------------------------------------------------------------------

// A tile of sums of rows. Of each run of 64 columns a lane has columns [16t, 16t + 16): sums[8n + j] has column
// 64n + 16t + j of row g, then the one 8 columns on, then the same of row g + 8. Thus a lane reads eight columns of a
// row at once here, too.
template <int width>
using TileSums = float[width / 8][4];

// sums += weights · rows [first, first + 16)
template <int width, class Rows>
GPU_FUNCTION void add_weighted_tile(const FourWords& weights, const Rows& rows, int first,
                                    TileSums<width>& sums) {
  const int r = first + 2 * lane_pair();
#pragma unroll
  for (int n = 0; n < width / 64; ++n) {
    const int c = 64 * n + 8 * lane_row();
    const FourWords a = words_of(rows, r, c), b = words_of(rows, r + 1, c), c8 = words_of(rows, r + 8, c),
                    d = words_of(rows, r + 9, c);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      add_product(sums[8 * n + 2 * i], weights, low_halves(a.x[i], b.x[i]), low_halves(c8.x[i], d.x[i]));
      add_product(sums[8 * n + 2 * i + 1], weights, high_halves(a.x[i], b.x[i]),
                  high_halves(c8.x[i], d.x[i]));
    }
  }
}

// Eight columns of a row from `place` on are written, or added to.
GPU_FUNCTION void store_eight(const Matrix& to, int64_t place, bool accumulate, float (&x)[8]) {
  if (accumulate && to.data != nullptr) {
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += to.data[place + i];
  } else if (accumulate) {
    const FourWords before = load_words(to.rounded + place);
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] += i % 2 == 0 ? low_half(before.x[i / 2]) : high_half(before.x[i / 2]);
  }
  if (to.data != nullptr)
#pragma unroll
    for (int i = 0; i < 8; ++i) to.data[place + i] = x[i];
  if (to.rounded != nullptr)
    store_words(
        {{bf16_pair(x[0], x[1]), bf16_pair(x[2], x[3]), bf16_pair(x[4], x[5]), bf16_pair(x[6], x[7])}},
        to.rounded + place);
}

// The sums of the span's rows from `first` on, rows g and g + 8 multiplied by these.
template <int width>
GPU_FUNCTION void store_tile(const Matrix& to, const Span& span, const SpanHead& head, int64_t head_width,
                             int first, bool accumulate, const float (&multipliers)[2],
                             const TileSums<width>& sums) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int r = first + lane_row() + 8 * i;
    if (r >= span.length) continue;
    const int64_t row = (span.begin + r) * to.stride + head.index * head_width;
#pragma unroll
    for (int n = 0; n < width / 32; ++n) {
      const int column = n / 2 * 64 + 16 * lane_pair() + n % 2 * 8;
      if (column >= head_width) continue;
      float x[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) x[j] = sums[n / 2 * 8 + j][2 * i + n % 2] * multipliers[i];
      store_eight(to, row + column, accumulate, x);
    }
  }
}

// --- queries and keys -------------------------------------------------------------------------------

GPU_FUNCTION int visible_to(const AttentionShape& shape, const SpanHead& head, int query) {
  return static_cast<int>(visible_keys(shape, head, query));
}

// How many keys any query of the tile at `first` attends to.
GPU_FUNCTION int visible_to_tile(const AttentionShape& shape, const SpanHead& head, int first) {
  const int end = first + tensor_rows;
  return visible_to(shape, head, (end < head.queries.length ? end : head.queries.length) - 1);
}

// Dropout of a query's weights for 64 keys. Of a tile of eight keys a lane has keys 2t and 2t + 1, and two counters
// decide for all that it has.
struct KeyDraws {
  PhiloxWords words[2];
};

// Of the span's last query where there is none.
GPU_FUNCTION KeyDraws key_draws(const DropoutMask& mask, const SpanHead& head, int query, int first_key) {
  const int last = head.queries.length - 1;
  const RowKey& row = mask.rows[head.queries.begin + (query < last ? query : last)];
  const uint32_t counter = static_cast<uint32_t>(first_key / dropout_block * 8 + lane_pair());
  const uint32_t index = static_cast<uint32_t>(head.index);
  return {{philox(mask, row, index, counter), philox(mask, row, index, counter + 4)}};
}

// Whether this lane's key of a pair, in the j-th tile of eight keys, is kept. Both halves of a word are compared where
// the high one stands.
GPU_FUNCTION bool keeps(const DropoutMask& mask, const KeyDraws& draws, int j, int of_pair) {
  const uint32_t word = draws.words[j % 2].word[j / 4 * 2 + of_pair];
  return (j / 2 % 2 == 0 ? word << 16 : word) >= static_cast<uint32_t>(mask.threshold) << 16;
}

}  // namespace
}  // namespace dragoman::internal
