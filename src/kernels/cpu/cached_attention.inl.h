// Attention of decoding: one query for each sentence, over the keys and values of a KeyCache.
//
// What it costs is to fetch them, once for all that is computed with them. So nothing is packed: a square of keys is
// transposed in registers, and each number meets the query by the same chain of sums as in attention.inl.h. A head's
// key and value are asked for while the head before it is worked on, which lies beside it in the row.
#pragma once

#include "kernels/cpu/attention.inl.h"
#include "kernels/cpu/bf16.inl.h"

namespace dragoman {
namespace {

// --- numbers of a cache, by words of 32 bits ---------------------------------------------------------

struct FloatNumbers {
  static constexpr Precision precision = Precision::fp32;
  static constexpr int of_word = 1;

  template <int part>
  static Vec number(Vec words) {
    return words;
  }
  static void store_line(float* line, const float* x, int64_t count) {
    for (int64_t i = 0; i < 16; i += lanes) store(line + i, i < count ? load_some(x + i, count - i) : Vec{});
  }
  static void store_sums(float* out, const Vec* sums, int64_t count) { store_some(out, sums[0], count); }
};

// Two to a word, the first in its lower half.
struct Bf16Numbers {
  static constexpr Precision precision = Precision::bf16;
  static constexpr int of_word = 2;

  template <int part>
  static Vec number(Vec words) {
    return part == 0 ? lower_halves(words) : upper_halves(words);
  }
  static void store_line(float* line, const float* x, int64_t count) {
    for (int64_t i = 0; i < 32; i += 2 * lanes) {
      const Vec first = i < count ? load_some(x + i, count - i) : Vec{};
      const Vec second = i + lanes < count ? load_some(x + i + lanes, count - i - lanes) : Vec{};
      store(line + i / 2, bf16_side_by_side(first, second));
    }
  }
  // Those of the lower halves and those of the upper ones take turns.
  static void store_sums(float* out, const Vec* sums, int64_t count) {
    store_some(out, low_halves_in_order(sums[0], sums[1]), count);
    if (count > lanes) store_some(out + lanes, high_halves_in_order(sums[0], sums[1]), count - lanes);
  }

 private:
  static Vec low_halves_in_order(Vec a, Vec b) {
    Ints from = {};
    for (int i = 0; i < lanes; ++i) from[i] = i / 2 + i % 2 * lanes;
    return __builtin_shuffle(a, b, from);
  }
  static Vec high_halves_in_order(Vec a, Vec b) {
    Ints from = {};
    for (int i = 0; i < lanes; ++i) from[i] = lanes / 2 + i / 2 + i % 2 * lanes;
    return __builtin_shuffle(a, b, from);
  }
};

// --- one head of one sentence -----------------------------------------------------------------------

// The keys that one query sees, or their values, wherever their rows are. Lengths are in words of 32 bits.
template <class Numbers>
struct SeenRows {
  const float* data;  // words, whatever they hold
  int64_t row_words, words, next_head;
  const int32_t* rows;
  int64_t count, width;

  const float* row(int64_t j) const { return data + rows[j] * row_words; }
};

template <class Numbers>
void score_keys(const float* q, const SeenRows<Numbers>& k, float* scores) {
  constexpr int of_word = Numbers::of_word;
  for (int64_t j = 0; j < k.count; j += lanes) {
    Vec sums = {};
    for (int64_t w = 0; w < k.words; w += lanes) {
      Vec square[lanes];
#pragma GCC unroll 16
      for (int64_t i = 0; i < lanes; ++i) square[i] = j + i < k.count ? load(k.row(j + i) + w) : Vec{};
      for (int64_t i = 0; i < lanes && j + i < k.count; ++i)
        __builtin_prefetch(k.row(j + i) + w + k.next_head);
      transpose(square);
#pragma GCC unroll 16
      for (int64_t i = 0; i < lanes; ++i) {
        const int64_t n = (w + i) * of_word;
        if (n < k.width) sums = multiply_add(all(q[n]), Numbers::template number<0>(square[i]), sums);
        if (of_word == 2 && n + 1 < k.width)
          sums = multiply_add(all(q[n + 1]), Numbers::template number<1>(square[i]), sums);
      }
    }
    store_some(scores + j, sums, k.count - j);
  }
}

// `vectors` of the words from w on.
template <class Numbers, int vectors>
void add_values(const float* p, const SeenRows<Numbers>& v, int64_t w, float* out) {
  constexpr int of_word = Numbers::of_word;
  Vec sums[vectors * of_word] = {};
  for (int64_t j = 0; j < v.count; ++j) {
    const float* row = v.row(j) + w;
    const Vec share = all(p[j]);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      __builtin_prefetch(row + i * lanes + v.next_head);
      const Vec words = load(row + i * lanes);
      Vec* sum = sums + i * of_word;
      sum[0] = multiply_add(share, Numbers::template number<0>(words), sum[0]);
      if (of_word == 2) sum[1] = multiply_add(share, Numbers::template number<1>(words), sum[1]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < vectors; ++i) {
    const int64_t n = (w + i * lanes) * of_word;
    if (n < v.width) Numbers::store_sums(out + n, sums + i * of_word, v.width - n);
  }
}

template <class Numbers>
void add_all_values(const float* p, const SeenRows<Numbers>& v, float* out) {
  int64_t w = 0;
  for (; w + 4 * lanes <= v.words; w += 4 * lanes) add_values<Numbers, 4>(p, v, w, out);
  for (; w + 2 * lanes <= v.words; w += 2 * lanes) add_values<Numbers, 2>(p, v, w, out);
  for (; w < v.words; w += lanes) add_values<Numbers, 1>(p, v, w, out);
}

// --- all --------------------------------------------------------------------------------------------

template <class Numbers>
void attend_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, const KeyCache& cache,
                     const int32_t* key_rows, Matrix out) {
  const int64_t words = cache.key_bytes / 4;
  const auto* data = static_cast<const float*>(cache.data);
  const auto do_head = [&](const Head& head, float* scores) {
    const int64_t row = head.queries.begin, keys = head.keys.length;
    const float* first = data + head.index * 2 * words;
    const SeenRows<Numbers> k = {.data = first,
                                 .row_words = cache.heads * 2 * words,
                                 .words = words,
                                 .next_head = 2 * words,
                                 .rows = key_rows + head.keys.begin,
                                 .count = keys,
                                 .width = cache.width};
    SeenRows<Numbers> v = k;
    v.data = first + words;
    score_keys(part_of(q, row, 1, head.index, shape.width).data, k, scores);
    softmax_row(scores, keys, keys, shape.scale);
    add_all_values(scores, v, part_of(out, row, 1, head.index, shape.width).data);
  };
  // Of enough sentences each is one task, since what lies beside a head's part of a row is the next head's; of more,
  // some neighbours are, which as hypotheses of one source have the same keys.
  const int64_t heads = shape.spans * shape.heads;
  const int64_t heads_of_task = shape.spans >= 4 * enough_tasks ? 4 * shape.heads
                                : shape.spans >= enough_tasks   ? shape.heads
                                                                : 1;
  for_each_task(context, ceil_div(heads, heads_of_task), [&](int64_t task, int worker) {
    const auto bytes = static_cast<size_t>(padded(shape.longest_keys)) * sizeof(float);
    auto* scores = static_cast<float*>(context.local(worker, bytes));
    for (int64_t i = task * heads_of_task; i < smaller(heads, (task + 1) * heads_of_task); ++i)
      do_head(head_of_task(shape, i), scores);
  });
}

void attention_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, const KeyCache& cache,
                        const int32_t* key_rows, Matrix out) {
  const bool narrow = cache.precision == Precision::bf16;
  (narrow ? attend_to_cache<Bf16Numbers> : attend_to_cache<FloatNumbers>)(context, shape, q, cache, key_rows,
                                                                          out);
}

template <class Numbers>
void store_key_row(const float* x, const KeyCache& cache, float* row) {
  constexpr int64_t words = 16, numbers = words * Numbers::of_word;  // of a line
  for (int64_t part = 0; part < 2 * cache.heads; ++part) {           // each head's key and value
    const float* from = x + (part / 2 + part % 2 * cache.heads) * cache.width;
    for (int64_t n = 0; n < cache.width; n += numbers, row += words)
      Numbers::store_line(row, from + n, cache.width - n);
  }
}

void store_keys(Context& context, ConstMatrix keys_values, const int32_t* rows, const KeyCache& to) {
  const int64_t row_words = to.heads * 2 * to.key_bytes / 4;
  const bool narrow = to.precision == Precision::bf16;
  for_each_row_block(context, keys_values.rows, keys_values.columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const float* x = keys_values.data + r * keys_values.row_stride;
      (narrow ? store_key_row<Bf16Numbers>
              : store_key_row<FloatNumbers>)(x, to, static_cast<float*>(to.data) + rows[r] * row_words);
    }
  });
}

}  // namespace
}  // namespace dragoman
