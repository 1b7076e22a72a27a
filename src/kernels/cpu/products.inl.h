// Matrix products: c = a·b or c + a·b, with the epilogue while the result is still in the cache.
//
// A task is a block of rows times a run of panels. It goes through blocks of the inner index: copies a's part into
// memory of its own, then lets every panel of b meet every tile of rows. How the work is cut follows from the
// shape alone; whatever the cut, the sums are the same (microkernel.inl.h).
#pragma once

#include <stdint.h>

#include "kernels/cpu/epilogue.inl.h"
#include "kernels/cpu/microkernel.inl.h"
#include "kernels/cpu/packing.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/kernels.h"

namespace dragoman {
namespace {

// Panels that are finished, epilogue included, before the next are begun: whole blocks of dropout.
constexpr int64_t group_columns = tile_columns % 3 == 0 ? 3 * dropout_block : 2 * dropout_block;
constexpr int64_t group_panels = group_columns / tile_columns;
static_assert(group_columns % tile_columns == 0 && group_columns % dropout_block == 0);

// How many blocks of rows and how many runs of columns a product is cut into.
struct Cut {
  int64_t row_blocks, column_runs;
  int64_t tiles, groups;  // what is distributed over them

  int64_t first_row(int64_t block) const { return block * tiles / row_blocks * tile_rows; }
  int64_t first_column(int64_t run) const { return run * groups / column_runs * group_columns; }
};

constexpr int64_t rows_of_block = 128;  // at most, about: a's part of a task stays in the second-level cache
constexpr int64_t columns_of_run = 2048;  // at most
constexpr int64_t enough_tasks = 64;      // to share them evenly

inline Cut cut_product(int64_t rows, int64_t columns) {
  Cut cut = {};
  cut.tiles = ceil_div(rows, tile_rows);
  cut.groups = ceil_div(columns, group_columns);
  cut.row_blocks = ceil_div(cut.tiles, rows_of_block / tile_rows);
  const int64_t runs = larger(ceil_div(columns, columns_of_run), ceil_div(enough_tasks, cut.row_blocks));
  cut.column_runs = smaller(cut.groups, runs);
  return cut;
}

// The rows and columns of one task, and where in them it is.
struct Part {
  int64_t first_row, rows, first_column, columns;
};

template <bool by_depth>
void multiply_group(const float* a, int64_t rows, const float* b, int64_t depth, bool from_zero, float* c,
                    int64_t c_stride, int64_t columns) {
  const int64_t panels = panel_count(columns);
  const bool few = rows <= tile_rows;
  for (int64_t panel = 0; panel < panels;) {
    const int64_t together = few ? panels_at_once(rows) : 1;
    const bool at_once = together > 1 && panel + together <= panels;
    for (int64_t i = 0; i < rows; i += tile_rows) {
      multiply_rows<by_depth>(smaller(tile_rows, rows - i), at_once,
                              {.depth = depth,
                               .a = a + i / tile_rows * a_tile_step<by_depth>,
                               .b = b + panel * depth * tile_columns,
                               .c = c + i * c_stride + panel * tile_columns,
                               .c_stride = c_stride,
                               .columns = columns - panel * tile_columns,
                               .from_zero = from_zero});
    }
    panel += at_once ? together : 1;
  }
}

template <bool by_depth>
void multiply_part(const ConstMatrix& a, const PackedMatrix& b, const Matrix& c, const Epilogue& epilogue,
                   Part part, float* block) {
  const bool finishing = has_work(epilogue);
  for (int64_t begin = 0; begin == 0 || begin < b.rows; begin += block_depth) {
    const int64_t depth = smaller(block_depth, b.rows - begin);
    const float* from = a.data + part.first_row * a.row_stride + begin * a.column_stride;
    if (by_depth) {
      copy_a_columns(from, a.column_stride, part.rows, depth, block);
    } else {
      copy_a_rows(from, a.row_stride, part.rows, depth, block);
    }
    const int64_t end = part.first_column + part.columns;
    for (int64_t column = part.first_column; column < end; column += group_columns) {
      const int64_t columns = smaller(group_columns, end - column);
      multiply_group<by_depth>(
          block, part.rows, panel_of(b.data, b.columns, begin, depth, column / tile_columns), depth,
          begin == 0 && !epilogue.accumulate, c.data + part.first_row * c.stride + column, c.stride, columns);
      if (finishing && begin + block_depth >= b.rows) {
        finish_rows(epilogue, c, part.first_row, part.rows, column, columns);
      }
    }
  }
}

inline void product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c, const Epilogue& epilogue) {
  if (c.rows <= 0 || c.columns <= 0) return;
  const Cut cut = cut_product(c.rows, c.columns);
  const bool by_depth = a.column_stride != 1;
  const int64_t tiles = ceil_div(cut.tiles, cut.row_blocks);
  const size_t bytes =
      sizeof(float) * static_cast<size_t>(tiles * (by_depth ? a_tile_step<true> : a_tile_step<false>));
  for_each_task(context, cut.row_blocks * cut.column_runs, [&](int64_t task, int worker) {
    const int64_t block = task % cut.row_blocks, run = task / cut.row_blocks;
    Part part = {.first_row = cut.first_row(block), .first_column = cut.first_column(run)};
    part.rows = smaller(c.rows, cut.first_row(block + 1)) - part.first_row;
    part.columns = smaller(c.columns, cut.first_column(run + 1)) - part.first_column;
    float* local = static_cast<float*>(context.local(worker, bytes));
    if (by_depth) {
      multiply_part<true>(a, b, c, epilogue, part, local);
    } else {
      multiply_part<false>(a, b, c, epilogue, part, local);
    }
  });
}

}  // namespace
}  // namespace dragoman
