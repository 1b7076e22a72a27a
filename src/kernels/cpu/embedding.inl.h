// Embeddings times a scale, plus positions, with dropout; and the backward into both tables. Dropout alone.
#pragma once

#include "kernels/cpu/parallel.h"
#include "kernels/cpu/random.inl.h"
#include "kernels/cpu/simd.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

void embed(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix table,
           ConstMatrix position_table, float scale, bool zero_start, const Dropout& dropout, Matrix out) {
  const DropoutMask mask = dropout_mask(dropout);
  for_each_row(context, out.rows, out.columns, [&](int64_t r) {
    const float* word = table.data + ids[r] * table.row_stride;
    const float* position = position_table.data == nullptr
                                ? nullptr
                                : position_table.data + rows[r].position * position_table.row_stride;
    const Vec factor = all(zero_start && rows[r].position == 0 ? 0.0f : scale);
    float* y = out.data + r * out.stride;
    for (int64_t c = 0; c < out.columns; c += lanes) {
      const int64_t left = out.columns - c;
      const Vec added = position != nullptr ? load_some(position + c, left) : Vec{};
      store_some(y + c, multiply_add(load_some(word + c, left), factor, added), left);
    }
    if (dropout.rate > 0) apply_dropout(mask, dropout.rows[r], 0, out.columns, y);
  });
}

// Several tokens may add to one row of a table: a task has a range of columns, and takes the tokens in order.
void embed_backward(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix gradient,
                    float scale, bool zero_start, const Dropout& dropout, Matrix table_gradient,
                    Matrix position_gradient) {
  const DropoutMask mask = dropout_mask(dropout);
  for_each_task(context, ceil_div(gradient.columns, dropout_block), [&](int64_t block, int) {
    const int64_t first = block * dropout_block;
    const int64_t columns = smaller(dropout_block, gradient.columns - first);
    for (int64_t r = 0; r < gradient.rows; ++r) {
      float multipliers[dropout_block];
      if (dropout.rate > 0) {
        dropout_multipliers(mask, dropout.rows[r], 0, block, multipliers);
      } else {
        fill(multipliers, dropout_block, 1);
      }
      const float* g = gradient.data + r * gradient.row_stride + first;
      const bool is_zero = zero_start && rows[r].position == 0;
      float* word = table_gradient.data == nullptr || is_zero
                        ? nullptr
                        : table_gradient.data + ids[r] * table_gradient.stride + first;
      float* position = position_gradient.data == nullptr
                            ? nullptr
                            : position_gradient.data + rows[r].position * position_gradient.stride + first;
      for (int64_t c = 0; c < columns; c += lanes) {
        const int64_t left = columns - c;
        const Vec kept = load_some(g + c, left) * load(multipliers + c);
        if (word != nullptr)
          store_some(word + c, multiply_add(kept, all(scale), load_some(word + c, left)), left);
        if (position != nullptr) store_some(position + c, load_some(position + c, left) + kept, left);
      }
    }
  });
}

void drop(Context& context, const Dropout& dropout, Matrix rows) {
  const DropoutMask mask = dropout_mask(dropout);
  for_each_row(context, rows.rows, rows.columns, [&](int64_t r) {
    apply_dropout(mask, dropout.rows[r], 0, rows.columns, rows.data + r * rows.stride);
  });
}

}  // namespace
}  // namespace dragoman::internal
