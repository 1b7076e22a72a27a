// Attention in decoding: one query for each sentence, its keys and values in the rows of a cache.
//
// Nothing is packed: a square of keys is transposed in registers and multiplied with the query by the same chain of
// sums as in attention.inl.h, with the same bits. A head's part of a row is prefetched during the head before it, which
// is adjacent.
//
// Hypotheses of one source stand one after another and see the same rows: all of the source's, and the first of their
// own. A few such neighbours are a group, for which those rows are read and transposed once.
#pragma once

#include "kernels/cpu/attention_distances.inl.h"
#include "kernels/cpu/attention_heads.inl.h"
#include "kernels/cpu/attention_softmax.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/single_thread.inl.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// --- groups of sentences ----------------------------------------------------------------------------

constexpr int64_t group_limit = 4;

// Sentences, one after another, whose first keys have the same rows.
struct Group {
  int64_t first, count;
  int64_t shared;  // so many keys: all, or whole vectors
};

inline int64_t shared_keys(const AttentionShape& shape, int64_t a, int64_t b) {
  const Span left = shape.keys[a], right = shape.keys[b];
  const int32_t *rows = shape.key_rows + left.begin, *others = shape.key_rows + right.begin;
  int64_t n = 0;
  while (n < left.length && n < right.length && rows[n] == others[n]) ++n;
  return n == left.length && n == right.length ? n : n / lanes * lanes;
}

// The group that begins with this sentence.
inline Group group_from(const AttentionShape& shape, int64_t first) {
  Group group = {first, 1, shape.keys[first].length};
  while (group.count < group_limit && first + group.count < shape.spans) {
    const int64_t next = first + group.count;
    if (shape.queries[next].begin != shape.queries[first].begin + group.count) break;
    const int64_t shared = smaller(group.shared, shared_keys(shape, first, next));
    if (shared == 0) break;
    group.shared = shared;
    ++group.count;
  }
  return group;
}

struct Groups {
  const Group* data;
  int64_t count;
};

inline Groups groups_of(Context& context, const AttentionShape& shape) {
  auto* groups = static_cast<Group*>(cpu(context).shared(static_cast<size_t>(shape.spans) * sizeof(Group)));
  int64_t count = 0;
  for (int64_t next = 0; next < shape.spans; ++count) {
    groups[count] = group_from(shape, next);
    next += groups[count].count;
  }
  return {groups, count};
}

// --- one head of a group ----------------------------------------------------------------------------

// A head's keys that queries see, or their values, wherever their rows are.
struct VisibleKeys {
  const float* data;
  int64_t stride;
  const int32_t* rows;
  int64_t count, width;

  const float* row(int64_t j) const { return data + rows[j] * stride; }
};

// scores(i, j) of `lanes` keys from j on.
template <int queries>
[[gnu::always_inline]] inline void score_keys(ConstMatrix q, const VisibleKeys& k, int64_t j, Matrix scores) {
  Vec sums[queries] = {};
  for (int64_t w = 0; w < k.width; w += lanes) {
    Vec square[lanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i)
      square[i] = j + i < k.count ? load_some(k.row(j + i) + w, k.width - w) : Vec{};
    for (int64_t i = 0; i < lanes && j + i < k.count; ++i) __builtin_prefetch(k.row(j + i) + w + k.width);
    transpose(square);
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i) {
      if (w + i >= k.width) continue;
#pragma GCC unroll 4
      for (int r = 0; r < queries; ++r)
        sums[r] = multiply_add(all(q.data[r * q.row_stride + w + i]), square[i], sums[r]);
    }
  }
  for (int r = 0; r < queries; ++r) store_some(scores.data + r * scores.stride + j, sums[r], k.count - j);
}

// `vectors` columns, from w on, of the sums over the keys from `begin` on: begun, or gone on with.
template <int vectors, int queries>
[[gnu::always_inline]] inline void add_values(ConstMatrix p, const VisibleKeys& v, int64_t begin, int64_t w,
                                              Matrix out) {
  const auto sum_at = [&](int r, int i) { return out.data + r * out.stride + w + i * lanes; };
  const auto left = [&](int i) { return v.width - w - i * lanes; };
  Vec sums[queries][vectors] = {};
  for (int r = 0; begin > 0 && r < queries; ++r)
    for (int i = 0; i < vectors; ++i) sums[r][i] = load_some(sum_at(r, i), left(i));
  for (int64_t j = begin; j < v.count; ++j) {
    const float* row = v.row(j);
    for (int i = 0; i < vectors; ++i) __builtin_prefetch(row + w + (vectors + i) * lanes);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      const float* values = row + w + i * lanes;
      const Vec value = vectors > 1 ? load(values) : load_some(values, left(i));
#pragma GCC unroll 4
      for (int r = 0; r < queries; ++r)
        sums[r][i] = multiply_add(all(p.data[r * p.row_stride + j]), value, sums[r][i]);
    }
  }
  for (int r = 0; r < queries; ++r)
    for (int i = 0; i < vectors; ++i) store_some(sum_at(r, i), sums[r][i], left(i));
}

template <int queries>
void add_all_values(ConstMatrix p, const VisibleKeys& v, int64_t begin, Matrix out) {
  constexpr int vectors = queries == 1 || registers == 32 ? 4 : 2;  // their sums stay in registers
  int64_t w = 0;
  for (; w + vectors * lanes <= v.width; w += vectors * lanes)
    add_values<vectors, queries>(p, v, begin, w, out);
  for (; w < v.width; w += lanes) add_values<1, queries>(p, v, begin, w, out);
}

// --- all heads --------------------------------------------------------------------------------------

// A worker's memory: the scores of some heads of a group, and what distances need.
struct RowsMemory {
  static int64_t floats(const AttentionShape& shape, int64_t heads) {
    return group_limit * heads * padded(shape.longest_keys) + single_thread_block_size() +
           Distances::floats(shape) + 2 * 16;
  }
  RowsMemory(const AttentionShape& shape, int64_t heads, Pieces memory)
      : scores(memory.take(group_limit * heads * padded(shape.longest_keys))),
        block(memory.take(single_thread_block_size())),
        distances(shape, memory) {}

  float *scores, *block;
  Distances distances;
};

// One query that sees all keys.
inline Head last_query(int64_t head, int64_t keys) {
  return {head, {0, 1}, {0, static_cast<int32_t>(keys)}, keys - 1};
}

// Its scores, as products of q and keys, become probabilities.
inline void weigh_last(const AttentionShape& shape, const Head& head, const float* q, float* scores,
                       Distances& distances, float* block) {
  const int64_t keys = head.keys.length;
  distances.begin_head(head.index, false);
  distances.begin_tile({q, 1, shape.width, shape.width}, block);
  softmax_row(shape, distances, 0, head.position(0), keys, keys, scores);
}

// Some heads of a group. Its sentences are counted from 0.
struct HeadsOfGroup {
  const AttentionShape& shape;
  const Group& group;
  int64_t first, end;  // the heads
  ConstMatrix q, k, v;
  Matrix out;
  RowsMemory& memory;

  int64_t keys(int64_t sentence) const { return shape.keys[group.first + sentence].length; }

  // A head's columns of what the sentences from this one on have in q, among the scores, in out, and in the cache, of
  // their first `count` keys.
  ConstMatrix queries(int64_t sentence, int64_t h) const {
    return part_of(q, row() + sentence, group.count - sentence, h, shape.width);
  }
  Matrix scores(int64_t sentence, int64_t h) const {
    const int64_t stride = padded(shape.longest_keys);
    return {memory.scores + ((h - first) * group.count + sentence) * stride, group.count - sentence, stride,
            stride};
  }
  Matrix outputs(int64_t sentence, int64_t h) const {
    return part_of(out, row() + sentence, group.count - sentence, h, shape.width);
  }
  VisibleKeys seen(ConstMatrix cache, int64_t sentence, int64_t count, int64_t h) const {
    return {cache.data + h * shape.width, cache.row_stride,
            shape.key_rows + shape.keys[group.first + sentence].begin, count, shape.width};
  }

 private:
  int64_t row() const { return shape.queries[group.first].begin; }
};

// The scores that the queries of some sentences, from this one on, have for keys [begin, end), which are in the same
// rows. The keys of a few rows are read by all heads in turn, then those of the next few: what was prefetched must
// still be in the first-level cache when it is used.
template <int queries>
void score_all_heads(const HeadsOfGroup& heads, int64_t sentence, int64_t begin, int64_t end) {
  for (int64_t j = begin; j < end; j += lanes) {
    for (int64_t h = heads.first; h < heads.end; ++h)
      score_keys<queries>(heads.queries(sentence, h), heads.seen(heads.k, sentence, end, h), j,
                          heads.scores(sentence, h));
  }
}

template <int queries>
void attend_to_rows(const HeadsOfGroup& heads) {
  const int64_t shared = heads.group.shared;
  Distances& distances = heads.memory.distances;
  float* block = heads.memory.block;
  score_all_heads<queries>(heads, 0, 0, shared);
  for (int64_t i = 0; i < queries; ++i) score_all_heads<1>(heads, i, shared, heads.keys(i));
  for (int64_t h = heads.first; h < heads.end; ++h) {
    for (int64_t i = 0; i < queries; ++i)
      weigh_last(heads.shape, last_query(h, heads.keys(i)), heads.queries(i, h).data, heads.scores(i, h).data,
                 distances, block);
    add_all_values<queries>(heads.scores(0, h), heads.seen(heads.v, 0, shared, h), 0, heads.outputs(0, h));
    for (int64_t i = 0; i < queries; ++i) {
      const int64_t keys = heads.keys(i);
      Matrix p = heads.scores(i, h), out = heads.outputs(i, h);
      if (keys > shared) add_all_values<1>(p, heads.seen(heads.v, i, keys, h), shared, out);
      p.rows = out.rows = 1;
      p.columns = keys;
      distances.add_values(last_query(h, keys), 0, false, p, out, block);
    }
  }
}

inline void attend_together(const HeadsOfGroup& heads) {
  switch (heads.group.count) {
    case 1:
      return attend_to_rows<1>(heads);
    case 2:
      return attend_to_rows<2>(heads);
    case 3:
      return attend_to_rows<3>(heads);
    default:
      return attend_to_rows<group_limit>(heads);
  }
}

inline void attend_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                            ConstMatrix v, Matrix out) {
  const Groups groups = groups_of(context, shape);
  // Few groups are split by heads.
  const int64_t heads = clamped(groups.count * shape.heads / enough_tasks, 1, shape.heads),
                cuts = ceil_div(shape.heads, heads);
  const auto bytes = static_cast<size_t>(RowsMemory::floats(shape, heads)) * sizeof(float);
  for_each_task(context, groups.count * cuts, [&](int64_t task, int worker) {
    RowsMemory memory(shape, heads, Pieces(cpu(context).local(worker, bytes)));
    const int64_t first = task % cuts * heads, end = smaller(first + heads, shape.heads);
    attend_together({shape, groups.data[task / cuts], first, end, q, k, v, out, memory});
  });
}

// With the bits of attend_to_cache.
inline void weigh_cache(Context& context, const AttentionShape& shape, ConstMatrix q, ConstMatrix k,
                        Matrix weights) {
  const auto bytes = static_cast<size_t>(RowsMemory::floats(shape, 0)) * sizeof(float);
  for_each_task(context, shape.spans, [&](int64_t sentence, int worker) {
    RowsMemory memory(shape, 0, Pieces(cpu(context).local(worker, bytes)));
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin, unused = shape.longest_keys - keys.length;
    const int32_t* rows = shape.key_rows + keys.begin;
    for (int64_t h = 0; h < shape.heads; ++h) {
      const VisibleKeys seen = {k.data + h * shape.width, k.row_stride, rows, keys.length, shape.width};
      const ConstMatrix my_q = part_of(q, row, 1, h, shape.width);
      const Matrix scores = part_of(weights, row, 1, h, shape.longest_keys);
      for (int64_t j = 0; j < keys.length; j += lanes) score_keys<1>(my_q, seen, j, scores);
      weigh_last(shape, last_query(h, keys.length), my_q.data, scores.data, memory.distances, memory.block);
      fill(scores.data + keys.length, unused, 0);
    }
  });
}

}  // namespace
}  // namespace dragoman::internal
