// Embeddings times a scale, plus positions, with dropout; and dropout alone. The backward: embedding_backward.inl.h.
#pragma once

#include "kernels/cuda/rows.inl.h"

namespace dragoman::internal {
namespace {

GPU_KERNEL embed_kernel(const int32_t* ids, const RowKey* rows, ConstMatrix table, ConstMatrix position_table,
                        float scale, bool zero_start, DropoutMask mask, Matrix out) {
  const int64_t r = row_of_warp();
  if (r >= out.rows) return;
  const float* word = table.data + ids[r] * table.row_stride;
  const float* position = position_table.data == nullptr
                              ? nullptr
                              : position_table.data + rows[r].position * position_table.row_stride;
  const float factor = zero_start && rows[r].position == 0 ? 0.0f : scale;
  float* y = out.data + r * out.stride;
  for_columns(mask, r, out.columns, [=](int64_t c, float multiplier) {
    y[c] = fmaf(word[c], factor, position != nullptr ? position[c] : 0.0f) * multiplier;
  });
}

void embed(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix table,
           ConstMatrix position_table, float scale, bool zero_start, const Dropout& dropout, Matrix out) {
  launch(context, row_grid("embed", out.rows), embed_kernel, ids, rows, table, position_table, scale,
         zero_start, dropout_mask(dropout), out);
}

GPU_KERNEL drop_kernel(DropoutMask mask, Matrix rows) {
  const int64_t r = row_of_warp();
  if (r >= rows.rows) return;
  float* row = rows.data + r * rows.stride;
  for_columns(mask, r, rows.columns, [=](int64_t c, float multiplier) { row[c] *= multiplier; });
}

void drop(Context& context, const Dropout& dropout, Matrix rows) {
  launch(context, row_grid("drop", rows.rows), drop_kernel, dropout_mask(dropout), rows);
}

}  // namespace
}  // namespace dragoman::internal
