// The losses of rows of logits and their gradients in place; log-probabilities, and the largest of each row.
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

extern "C" float logf(float);

namespace dragoman::internal {
namespace {

constexpr float lowest_float = -3.402823466e38f;

inline Vec load_logits(const float* p, int64_t n) {  // lanes beyond the row's end are lower than anything
  if (n >= lanes) return load(p);
  return counted_lanes() < static_cast<int32_t>(n) ? load_first(p, n) : all(lowest_float);
}

inline float row_max(const float* x, int64_t columns) {
  Vec top = all(lowest_float);
  for (int64_t c = 0; c < columns; c += lanes) top = max(load_logits(x + c, columns - c), top);  // skips NaN
  return largest(top);
}

// The row becomes e^(x − top); returns its sum. total: Σ (x − top).
inline float exponentiate_row(float* x, int64_t columns, float top, float* total) {
  Vec sum_x = {}, sum_e = {};
  for (int64_t c = 0; c < columns; c += lanes) {
    const int64_t left = columns - c;
    const Vec shifted = load_some(x + c, left) - all(top);
    const Vec e = exponential(load_logits(x + c, left) - all(top));
    sum_e += e;
    store_some(x + c, e, left);
    if (left < lanes) {
      float tail[lanes] = {};
      store_first(tail, shifted, left);
      sum_x += load(tail);
    } else {
      sum_x += shifted;
    }
  }
  *total = sum(sum_x);
  return sum(sum_e);
}

// The probabilities of the smoothed target: of the right word and of each other one.
struct SmoothedTarget {
  float right, other;
};

inline SmoothedTarget smoothed_target(Smoothing smoothing, int64_t vocabulary) {
  const float v = static_cast<float>(vocabulary);
  if (smoothing.over == SmoothingOver::all) {
    return {1 - smoothing.amount + smoothing.amount / v, smoothing.amount / v};
  }
  return {1 - smoothing.amount, vocabulary > 1 ? smoothing.amount / (v - 1) : 0};
}

inline void cross_entropy_row(float* x, int64_t columns, int32_t target, SmoothedTarget q, bool gradient,
                              float* losses) {
  const float top = row_max(x, columns);
  const float shifted_target = x[target] - top;
  float total;
  const float sum_e = exponentiate_row(x, columns, top, &total);
  const float log_sum = logf(sum_e);
  // −Σ q·log p, with log p = (x − top) − log Σ e^(x − top) and Σ q = 1
  losses[0] = log_sum - (q.right - q.other) * shifted_target - q.other * total;
  losses[1] = log_sum - shifted_target;
  if (!gradient) return;
  const Vec scale = all(1 / sum_e), other = all(-q.other);
  for (int64_t c = 0; c < columns; c += lanes) {
    store_some(x + c, multiply_add(load_some(x + c, columns - c), scale, other), columns - c);
  }
  x[target] -= q.right - q.other;
}

void cross_entropy(Context& context, Matrix logits, const int32_t* targets, Smoothing smoothing,
                   bool gradient, float* losses) {
  const SmoothedTarget q = smoothed_target(smoothing, logits.columns);
  for_each_row(context, logits.rows, logits.columns, [&](int64_t r) {
    cross_entropy_row(logits.data + r * logits.stride, logits.columns, targets[r], q, gradient,
                      losses + 2 * r);
  });
}

inline float log_of_sum(const float* x, int64_t columns, float top) {  // log Σ e^(x − top)
  Vec total = {};
  for (int64_t c = 0; c < columns; c += lanes)
    total += exponential(load_logits(x + c, columns - c) - all(top));
  return logf(sum(total));
}

void log_softmax(Context& context, Matrix logits) {
  for_each_row(context, logits.rows, logits.columns, [&](int64_t r) {
    float* x = logits.data + r * logits.stride;
    const int64_t columns = logits.columns;
    const float top = row_max(x, columns);
    const Vec log_sum = all(log_of_sum(x, columns, top));
    for (int64_t c = 0; c < columns; c += lanes)
      store_some(x + c, load_some(x + c, columns - c) - all(top) - log_sum, columns - c);
  });
}

// The larger of the two is taken out of the sum: then it lies between the smaller share and 1. A NaN stays one.
inline Vec mixed_log(Vec a, Vec b, Vec share_a, Vec share_b) {
  const Vec top = max(max(a, b), all(lowest_float));  // where both are −∞ the sum is 0
  const Vec sum = multiply_add(share_a, exponential(a - top), share_b * exponential(b - top));
  return sum > Vec{} ? top + logarithm(sum) : sum == Vec{} ? all(-__builtin_inff()) : sum;
}

void mix_log_probabilities(Context& context, ConstMatrix other, float share, Matrix mixed) {
  for_each_row(context, mixed.rows, mixed.columns, [&](int64_t r) {
    const float* b = other.data + r * other.row_stride;
    float* a = mixed.data + r * mixed.stride;
    for (int64_t c = 0; c < mixed.columns; c += lanes) {
      const int64_t left = mixed.columns - c;
      store_some(a + c, mixed_log(load_some(a + c, left), load_some(b + c, left), all(1 - share), all(share)),
                 left);
    }
  });
}

// Inserts it into the sorted list of the largest so far, if it belongs there. Returns the list's length.
inline int64_t insert_into_top(Element element, int64_t count, int64_t found, Element* list) {
  if (!(element.value >= lowest_float) || (found == count && !(element.value > list[count - 1].value)))
    return found;
  int64_t at = found < count ? found : count - 1;
  for (; at > 0 && element.value > list[at - 1].value; --at) list[at] = list[at - 1];
  list[at] = element;
  return smaller(found + 1, count);
}

// What log_softmax subtracts from a row, in its order; zeros: nothing.
struct RowOffset {
  float top, log_sum;

  float subtracted_from(float x) const { return x - top - log_sum; }
};

constexpr int64_t top_block = 64;

// The largest element of each block of a row.
inline void block_maxima(const float* x, int64_t columns, float* maxima) {
  for (int64_t begin = 0; begin < columns; begin += top_block)
    *maxima++ = row_max(x + begin, smaller(top_block, columns - begin));
}

// Few blocks of a row reach the `count`-th largest of all maxima, and what belongs in the list stands in these.
// Elements that differ may be equal after the subtraction, and then the first one leads: it comes before comparing.
inline void top_of_row(const float* x, int64_t columns, const float* maxima, RowOffset offset, int64_t count,
                       Element* list) {
  int64_t found = 0;
  for (int64_t b = 0; b < ceil_div(columns, top_block); ++b)
    found = insert_into_top({0, offset.subtracted_from(maxima[b])}, count, found, list);
  const float least = found == count ? list[count - 1].value : lowest_float;
  found = 0;
  for (int64_t begin = 0; begin < columns; begin += top_block, ++maxima) {
    if (offset.subtracted_from(*maxima) < least) continue;
    const int64_t end = smaller(columns, begin + top_block);
    for (int64_t c = begin; c < end; ++c)
      found = insert_into_top({static_cast<int32_t>(c), offset.subtracted_from(x[c])}, count, found, list);
  }
  for (; found < count; ++found) list[found] = {-1, -__builtin_inff()};
}

inline void top_of_rows(Context& context, ConstMatrix rows, int64_t count, bool after_softmax,
                        Element* lists) {
  const int64_t blocks = ceil_div(rows.columns, top_block);
  for_each_task(context, rows.rows, [&](int64_t r, int worker) {
    const float* x = rows.data + r * rows.row_stride;
    float* maxima =
        static_cast<float*>(cpu(context).local(worker, static_cast<size_t>(blocks) * sizeof(float)));
    block_maxima(x, rows.columns, maxima);
    RowOffset offset = {0, 0};
    if (after_softmax) {
      const float top = row_max(maxima, blocks);
      offset = {top, log_of_sum(x, rows.columns, top)};
    }
    top_of_row(x, rows.columns, maxima, offset, count, lists + r * count);
  });
}

void top(Context& context, ConstMatrix rows, int64_t count, Element* largest) {
  top_of_rows(context, rows, count, false, largest);
}

void top_log_probabilities(Context& context, ConstMatrix logits, int64_t count, Element* largest) {
  top_of_rows(context, logits, count, true, largest);
}

}  // namespace
}  // namespace dragoman::internal
