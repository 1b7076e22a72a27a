// Attention of decoding: one query for each sentence, over the keys and values of a KeyCache.
//
// What it costs is to fetch them, once for all that is computed with them. So nothing is packed: a square of keys is
// transposed in registers, and each number meets the query by the same chain of sums as in attention.inl.h. A head's
// part of a row is asked for while the head before it is worked on, which lies beside it.
#pragma once

#include "kernels/cpu/attention.inl.h"
#include "kernels/cpu/bf16.inl.h"

namespace dragoman {
namespace {

// --- numbers of a cache, by words of 32 bits ---------------------------------------------------------

struct FloatNumbers {
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
    store_some(out, low_halves(sums[0], sums[1]), count);
    if (count > lanes) store_some(out + lanes, high_halves(sums[0], sums[1]), count - lanes);
  }
};

// --- one head of one sentence -----------------------------------------------------------------------

// A head's keys that one query sees, or their values, wherever their rows are. The next head's follow in each row.
struct SeenRows {
  const float* data;         // words of 32 bits, whatever they hold
  int64_t row_words, words;  // of a row, and of this head's part
  const int32_t* rows;
  int64_t count, width;

  const float* row(int64_t j) const { return data + rows[j] * row_words; }
};

// Of `lanes` keys from j on.
template <class Numbers>
void score_keys(const float* q, const SeenRows& k, int64_t j, float* scores) {
  constexpr int of_word = Numbers::of_word;
  Vec sums = {};
  for (int64_t w = 0; w < k.words; w += lanes) {
    Vec square[lanes];
#pragma GCC unroll 16
    for (int64_t i = 0; i < lanes; ++i) square[i] = j + i < k.count ? load(k.row(j + i) + w) : Vec{};
    for (int64_t i = 0; i < lanes && j + i < k.count; ++i) __builtin_prefetch(k.row(j + i) + w + k.words);
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

// `vectors` of the words from w on.
template <class Numbers, int vectors>
void add_values(const float* p, const SeenRows& v, int64_t w, float* out) {
  constexpr int of_word = Numbers::of_word;
  Vec sums[vectors * of_word] = {};
  for (int64_t j = 0; j < v.count; ++j) {
    const float* row = v.row(j) + w;
    const Vec share = all(p[j]);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      __builtin_prefetch(row + i * lanes + v.words);
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
void add_all_values(const float* p, const SeenRows& v, float* out) {
  int64_t w = 0;
  for (; w + 4 * lanes <= v.words; w += 4 * lanes) add_values<Numbers, 4>(p, v, w, out);
  for (; w + 2 * lanes <= v.words; w += 2 * lanes) add_values<Numbers, 2>(p, v, w, out);
  for (; w < v.words; w += lanes) add_values<Numbers, 1>(p, v, w, out);
}

// --- all --------------------------------------------------------------------------------------------

// One sentence, heads [first, end). The keys of a few rows are read by all heads in turn, then those of the next few:
// what was asked for must still be in the nearest cache when it is used.
template <class Numbers>
void attend_to_rows(const AttentionShape& shape, const SeenRows& seen, int64_t first, int64_t end,
                    const float* q, float* out, float* scores) {
  const int64_t keys = seen.count, stride = padded(keys);
  const auto of_head = [&](int64_t part) {  // keys of the heads, and then their values
    SeenRows rows = seen;
    rows.data += part * seen.words;
    return rows;
  };
  for (int64_t j = 0; j < keys; j += lanes) {
    for (int64_t h = first; h < end; ++h)
      score_keys<Numbers>(q + h * shape.width, of_head(h), j, scores + (h - first) * stride);
  }
  for (int64_t h = first; h < end; ++h) softmax_row(scores + (h - first) * stride, keys, keys, shape.scale);
  for (int64_t h = first; h < end; ++h)
    add_all_values<Numbers>(scores + (h - first) * stride, of_head(shape.heads + h), out + h * shape.width);
}

template <class Numbers>
void attend_to_cache(Context& context, const AttentionShape& shape, ConstMatrix q, const KeyCache& cache,
                     const int32_t* key_rows, Matrix out) {
  const int64_t words = cache.key_bytes / 4;
  const auto do_sentence = [&](int64_t sentence, int64_t first, int64_t end, float* scores) {
    const Span keys = shape.keys[sentence];
    const int64_t row = shape.queries[sentence].begin;
    const SeenRows seen = {.data = static_cast<const float*>(cache.data),
                           .row_words = cache.heads * 2 * words,
                           .words = words,
                           .rows = key_rows + keys.begin,
                           .count = keys.length,
                           .width = cache.width};
    attend_to_rows<Numbers>(shape, seen, first, end, q.data + row * q.row_stride, out.data + row * out.stride,
                            scores);
  };
  // Few sentences are cut into heads; of many, some neighbours are a task, which as hypotheses of one source have the
  // same keys.
  const int64_t sentences = shape.spans >= 4 * enough_tasks ? 4 : 1;
  const int64_t heads = shape.spans >= enough_tasks ? shape.heads : 1, cuts = shape.heads / heads;
  const auto bytes = static_cast<size_t>(heads * padded(shape.longest_keys)) * sizeof(float);
  for_each_task(context, ceil_div(shape.spans, sentences) * cuts, [&](int64_t task, int worker) {
    auto* scores = static_cast<float*>(context.local(worker, bytes));
    const int64_t begin = task / cuts * sentences, head = task % cuts * heads;
    for (int64_t i = begin; i < smaller(shape.spans, begin + sentences); ++i)
      do_sentence(i, head, head + heads, scores);
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
  for (int64_t part = 0; part < 2 * cache.heads; ++part) {
    for (int64_t n = 0; n < cache.width; n += numbers, row += words)
      Numbers::store_line(row, x + part * cache.width + n, cache.width - n);
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
