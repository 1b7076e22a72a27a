// Matrix products: c = a·b or c + a·b, with the epilogue while the result is still in the cache.
//
// A task is a block of rows times a run of columns. It goes through blocks of the inner index, in which every panel
// of b meets every tile of rows. A task of many rows copies its own part of a, block by block; few rows, and a
// transpose, are copied for all tasks at once. How the work is cut follows from the shape alone; whatever the cut,
// the sums are the same (microkernel.inl.h).
#pragma once

#include <stdint.h>

#include "kernels/cpu/epilogue.inl.h"
#include "kernels/cpu/microkernel.inl.h"
#include "kernels/cpu/packing.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/kernels.h"

namespace dragoman {
namespace {

// Columns that are finished, epilogue included, before the next are begun: whole panels, whole blocks of dropout.
constexpr int64_t group_columns = tile_columns % 3 == 0 ? 3 * dropout_block : dropout_block;
static_assert(group_columns % tile_columns == 0 && group_columns % dropout_block == 0);

constexpr int64_t tiles_of_block = 128 / tile_rows;  // at most: a's block stays in the second-level cache
constexpr int64_t least_tiles_of_block = 56 / tile_rows;
constexpr int64_t columns_of_run = 2048;       // at most: b's part stays in the third-level cache
constexpr int64_t least_columns_of_run = 512;  // where each task copies its part of a
constexpr int64_t enough_tasks = 64;           // to share them evenly
constexpr int64_t shared_floats = 1 << 20;     // about, for the copy of a transpose

inline int64_t clamped(int64_t x, int64_t least, int64_t most) { return larger(least, smaller(x, most)); }

// How many blocks of rows and how many runs of columns a product is cut into.
struct Cut {
  int64_t tiles, groups;  // what is distributed over them
  int64_t row_blocks, column_runs;

  int64_t first_tile(int64_t block) const { return block * tiles / row_blocks; }
  int64_t first_column(int64_t run) const { return run * groups / column_runs * group_columns; }
};

inline Cut cut_product(int64_t rows, int64_t columns, bool shared) {
  Cut cut = {.tiles = ceil_div(rows, tile_rows), .groups = ceil_div(columns, group_columns)};
  const int64_t fewest_blocks = ceil_div(cut.tiles, tiles_of_block);
  const int64_t most_runs = shared ? cut.groups : ceil_div(columns, least_columns_of_run);
  cut.column_runs = clamped(ceil_div(enough_tasks, fewest_blocks), ceil_div(columns, columns_of_run),
                            smaller(most_runs, cut.groups));
  cut.row_blocks = clamped(ceil_div(enough_tasks, cut.column_runs), fewest_blocks,
                           larger(fewest_blocks, cut.tiles / least_tiles_of_block));
  return cut;
}

struct Product {
  ConstMatrix a;
  PackedMatrix b;
  Matrix c;
  const Epilogue& epilogue;
};

// The rows and columns of one task.
struct Part {
  int64_t first_row, rows, first_column, columns;
};

// A group of columns over a block of the inner index. a: this block's copy.
template <bool by_depth>
void multiply_group(const float* a, const float* b, int64_t depth, bool from_zero, const Matrix& c) {
  const int64_t panels = panel_count(c.columns);
  const int64_t together = c.rows <= tile_rows ? panels_at_once(c.rows) : 1;
  for (int64_t panel = 0; panel < panels;) {
    const bool at_once = together > 1 && panel + together <= panels;
    for (int64_t i = 0, rows = 0; i < c.rows; i += rows) {
      // Tiles of equal height keep the multipliers busier than whole ones and a remainder.
      const int64_t left = c.rows - i;
      rows = by_depth ? smaller(tile_rows, left) : ceil_div(left, ceil_div(left, tile_rows));
      multiply_rows<by_depth>(rows, at_once,
                              {.depth = depth,
                               .a = by_depth ? a + i / tile_rows * a_tile_step<true> : a + i * row_of_block,
                               .b = b + panel * depth * tile_columns,
                               .c = c.data + i * c.stride + panel * tile_columns,
                               .c_stride = c.stride,
                               .columns = c.columns - panel * tile_columns,
                               .from_zero = from_zero});
    }
    panel += at_once ? together : 1;
  }
}

// All groups of a part, over the block of the inner index that begins at `begin`.
template <bool by_depth>
void multiply_part(const Product& product, const Part& part, int64_t begin, const float* a) {
  const auto& [_, b, c, epilogue] = product;
  const int64_t depth = smaller(block_depth, b.rows - begin);
  const bool from_zero = begin == 0 && !epilogue.accumulate;
  const bool finishing = begin + block_depth >= b.rows && has_work(epilogue);
  for (int64_t done = 0; done < part.columns; done += group_columns) {
    const int64_t column = part.first_column + done, columns = smaller(group_columns, part.columns - done);
    const float* panels = panel_of(b.data, b.columns, begin, depth, column / tile_columns);
    multiply_group<by_depth>(a, panels, depth, from_zero,
                             {c.data + part.first_row * c.stride + column, part.rows, columns, c.stride});
    if (finishing) finish_rows(epilogue, c, part.first_row, part.rows, column, columns);
  }
}

inline Part part_of(const Cut& cut, const Matrix& c, int64_t task) {
  const int64_t block = task % cut.row_blocks,
                run = task / cut.row_blocks;  // neighbours share their part of b
  const int64_t row = cut.first_tile(block) * tile_rows, column = cut.first_column(run);
  return {.first_row = row,
          .rows = smaller(c.rows, cut.first_tile(block + 1) * tile_rows) - row,
          .first_column = column,
          .columns = smaller(c.columns, cut.first_column(run + 1)) - column};
}

// Many rows: a task copies what it needs of a, a block of the inner index at a time.
inline void multiply_many_rows(Context& context, const Product& product) {
  const auto& [a, b, c, _] = product;
  const Cut cut = cut_product(c.rows, c.columns, false);
  const int64_t floats = ceil_div(cut.tiles, cut.row_blocks) * a_tile_step<false>;
  for_each_task(context, cut.row_blocks * cut.column_runs, [&](int64_t task, int worker) {
    const Part part = part_of(cut, c, task);
    float* block = static_cast<float*>(context.local(worker, sizeof(float) * static_cast<size_t>(floats)));
    for (int64_t begin = 0; begin < larger(1, b.rows); begin += block_depth) {
      copy_a_rows(a.data + part.first_row * a.row_stride + begin, a.row_stride, part.rows,
                  smaller(block_depth, b.rows - begin), block);
      multiply_part<false>(product, part, begin, block);
    }
  });
}

// Blocks [first, first + count) of the inner index, a copied for all tasks together.
template <bool by_depth>
void multiply_blocks(Context& context, const Product& product, const Cut& cut, int64_t first, int64_t count,
                     float* copy) {
  const auto& [a, b, c, _] = product;
  const int64_t block_step = cut.tiles * a_tile_step<by_depth>;
  const int64_t pieces = ceil_div(cut.tiles, tiles_of_block);
  for_each_task(context, count * pieces, [&](int64_t task, int) {
    const int64_t tile = task % pieces * tiles_of_block, row = tile * tile_rows;
    const int64_t begin = (first + task / pieces) * block_depth, depth = smaller(block_depth, b.rows - begin);
    const int64_t rows = smaller(tiles_of_block * tile_rows, c.rows - row);
    const float* from = a.data + row * a.row_stride + begin * a.column_stride;
    float* to = copy + task / pieces * block_step + tile * a_tile_step<by_depth>;
    if constexpr (by_depth) {
      copy_a_columns(from, a.column_stride, rows, depth, to);
    } else {
      copy_a_rows(from, a.row_stride, rows, depth, to);
    }
  });
  for_each_task(context, cut.row_blocks * cut.column_runs, [&](int64_t task, int) {
    const Part part = part_of(cut, c, task);
    const float* block = copy + part.first_row / tile_rows * a_tile_step<by_depth>;
    for (int64_t i = 0; i < count; ++i) {
      multiply_part<by_depth>(product, part, (first + i) * block_depth, block + i * block_step);
    }
  });
}

// Few rows, or a transpose: a is copied once, in pieces that fit into a cache.
template <bool by_depth>
void multiply_shared(Context& context, const Product& product) {
  const Cut cut = cut_product(product.c.rows, product.c.columns, true);
  const int64_t block_floats = cut.tiles * a_tile_step<by_depth>;
  const int64_t blocks = larger(1, ceil_div(product.b.rows, block_depth));
  const int64_t at_once = clamped(shared_floats / block_floats, 1, blocks);
  float* copy =
      static_cast<float*>(context.shared(sizeof(float) * static_cast<size_t>(at_once * block_floats)));
  for (int64_t first = 0; first < blocks; first += at_once) {
    multiply_blocks<by_depth>(context, product, cut, first, smaller(at_once, blocks - first), copy);
  }
}

inline void product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c, const Epilogue& epilogue) {
  if (c.rows <= 0 || c.columns <= 0) return;
  const Product product = {a, b, c, epilogue};
  if (a.column_stride != 1) {
    multiply_shared<true>(context, product);
  } else if (c.rows <= tiles_of_block * tile_rows) {
    multiply_shared<false>(context, product);
  } else {
    multiply_many_rows(context, product);
  }
}

}  // namespace
}  // namespace dragoman
