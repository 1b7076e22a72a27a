// Embeddings times a scale, plus positions, with dropout; and dropout alone. The backward: embedding_backward.inl.h.
#pragma once

#include "kernels/cuda/fours.inl.h"

namespace dragoman::internal {
namespace {

struct EmbedOperands {
  const int32_t* ids;
  const RowKey* rows;
  ConstMatrix table, position_table;
  float scale;
  bool zero_start;
  Matrix out;
};
GPU_FUNCTION float scale_of_row(const EmbedOperands& o, int64_t r) {
  return o.zero_start && o.rows[r].position == 0 ? 0.0f : o.scale;
}

// A warp has a part of a row, in fours.
GPU_KERNEL embed_fours_kernel(EmbedOperands o, DropoutMask mask) {
  const PartOfRow part = part_of_warp(o.out.columns);
  const int64_t r = part.row;
  if (r >= o.out.rows) return;
  const Matrix out = from_column(o.out, part.first);
  ConstMatrix word = from_column(o.table, part.first), position = from_column(o.position_table, part.first);
  word.columns = position.columns = out.columns;
  auto x = load_as<float, steps_of_part>(word, o.ids[r]);
  const auto added = load_as<float, steps_of_part>(position, is_there(position) ? o.rows[r].position : 0,
                                                   is_there(position));
  const float factor = scale_of_row(o, r);
  for_dropped<steps_of_part>(mask, r, part.first, [&](int i, int j, float multiplier) {
    x.four[i].x[j] = fmaf(x.four[i].x[j], factor, added.four[i].x[j]) * multiplier;
  });
  store_row(x, out, r);
}

// Any row.
GPU_KERNEL embed_kernel(EmbedOperands o, DropoutMask mask) {
  const int64_t r = row_of_warp();
  if (r >= o.out.rows) return;
  const float factor = scale_of_row(o, r);
  for_columns(mask, r, o.out.columns, [=](int64_t c, float multiplier) {
    const float position =
        is_there(o.position_table) ? element(o.position_table, o.rows[r].position, c) : 0.0f;
    set_element(o.out, r, c, fmaf(element(o.table, o.ids[r], c), factor, position) * multiplier);
  });
}

void embed(Context& context, const int32_t* ids, const RowKey* rows, ConstMatrix table,
           ConstMatrix position_table, float scale, bool zero_start, const Dropout& dropout, Matrix out) {
  const EmbedOperands operands = {ids, rows, table, position_table, scale, zero_start, out};
  const DropoutMask mask = dropout_mask(dropout);
  if (floats_in_fours(table) && floats_in_fours(position_table) && in_fours(out))
    launch(context, part_grid("embed", out.rows, out.columns), embed_fours_kernel, operands, mask);
  else
    launch(context, row_grid("embed", out.rows), embed_kernel, operands, mask);
}

// --- dropout alone ----------------------------------------------------------------------------------

GPU_KERNEL drop_fours_kernel(DropoutMask mask, Matrix rows) {
  const PartOfRow part = part_of_warp(rows.columns);
  const int64_t r = part.row;
  if (r >= rows.rows) return;
  const Matrix own = from_column(rows, part.first);
  WideRow<steps_of_part> x = load_row<steps_of_part>(as_read(own), r);
  for_dropped<steps_of_part>(mask, r, part.first,
                             [&](int i, int j, float multiplier) { x.four[i].x[j] *= multiplier; });
  store_row(x, own, r);
}

GPU_KERNEL drop_kernel(DropoutMask mask, Matrix rows) {
  const int64_t r = row_of_warp();
  if (r >= rows.rows) return;
  for_columns(mask, r, rows.columns, [=](int64_t c, float multiplier) {
    set_element(rows, r, c, element(as_read(rows), r, c) * multiplier);
  });
}

void drop(Context& context, const Dropout& dropout, Matrix rows) {
  const DropoutMask mask = dropout_mask(dropout);
  if (in_fours(rows))
    launch(context, part_grid("drop", rows.rows, rows.columns), drop_fours_kernel, mask, rows);
  else
    launch(context, row_grid("drop", rows.rows), drop_kernel, mask, rows);
}

}  // namespace
}  // namespace dragoman::internal
