// The nearest of known states, and what followed them mixed into log-probabilities.
#pragma once

#include "kernels/cpu/loss.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

inline float relative_distance(const float* q, const float* k, int64_t columns) {
  Vec squares = {}, lengths = {};
  for (int64_t c = 0; c < columns; c += lanes) {
    const Vec a = load_some(q + c, columns - c), b = load_some(k + c, columns - c), difference = a - b;
    squares = multiply_add(difference, difference, squares);
    lengths = multiply_add(a, a, multiply_add(b, b, lengths));
  }
  const float length = sum(lengths);
  return length > 0 ? sum(squares) / length : 0;
}

// distances: of each known state of the span. Returns the least.
inline float distances_to(const NearestShape& shape, Span span, const float* state, ConstMatrix known,
                          float* distances) {
  float least = -lowest_float;
  for (int64_t i = 0; i < span.length; ++i) {
    const float* other = known.data + shape.rows[span.begin + i] * known.row_stride;
    distances[i] = relative_distance(state, other, known.columns);
    if (distances[i] < least) least = distances[i];
  }
  return least;
}

// The distances become weights; returns their sum.
inline float weigh_distances(float* distances, int64_t count, float least, float temperature) {
  const Vec scale = all(-1 / temperature);
  for (int64_t i = 0; i < count; i += lanes) {
    const Vec weights = exponential((load_some(distances + i, count - i) - all(least)) * scale);
    store_some(distances + i, weights, count - i);
  }
  float total = 0;
  for (int64_t i = 0; i < count; ++i) total += distances[i];
  return total;
}

// How far the row heeds others: 1 unless it has a word of more than ½, 0 where it is certain.
inline float doubt_of_row(const float* x, int64_t columns) {
  const float doubt = 2 * (1 - exponential(all(row_max(x, columns)))[0]);
  return doubt < 1 ? doubt : 1;
}

inline void mix_into_row(const int32_t* words, const float* weights, int64_t count, float share, float total,
                         float* x, int64_t columns) {
  const Vec rest = all(logf(1 - share));
  for (int64_t c = 0; c < columns; c += lanes)
    store_some(x + c, load_some(x + c, columns - c) + rest, columns - c);
  for (int64_t i = 0; i < count;) {
    const int32_t word = words[i];
    float weight = 0;
    for (; i < count && words[i] == word; ++i) weight += weights[i];
    const float p = exponential(all(x[word]))[0] + share * (weight / total);
    if (p > 1e-30f) x[word] = logf(p);
  }
}

void mix_nearest(Context& context, const NearestShape& shape, ConstMatrix states, ConstMatrix known,
                 Matrix weights, Matrix mixed) {
  for_each_row(context, mixed.rows, mixed.columns, [&](int64_t r) {
    const Span span = shape.spans[r];
    if (span.length == 0) return;
    float* own = weights.data + r * weights.stride;
    const float least = distances_to(shape, span, states.data + r * states.row_stride, known, own);
    float* x = mixed.data + r * mixed.stride;
    const float share = shape.most * (1 - least / shape.reach) * doubt_of_row(x, mixed.columns);
    if (!(share > 0)) return;
    const float total = weigh_distances(own, span.length, least, shape.temperature);
    mix_into_row(shape.words + span.begin, own, span.length, share, total, x, mixed.columns);
  });
}

}  // namespace
}  // namespace dragoman::internal
