// Matrix products of floats: c = a·b or c + a·b, with the epilogue while the result is still in the cache. `Kind` is
// the arithmetic (product_arithmetic.inl.h); all inner indices here are in its steps.
//
// A task is a block of rows times a run of columns. It goes through blocks of the inner index, in which every panel
// of b meets every tile of rows. With many rows, each task copies its own part of a, and a b that comes unpacked is
// first packed for all tasks. With few rows, a is copied for all tasks, and each packs its own columns of b. The tasks
// share as many blocks of the inner index at a time as fit into the cache: a phase. How the work is split follows from
// the shape alone; however it is split, the sums are the same (microkernel.inl.h).
#pragma once

#include <stdint.h>

#include "kernels/cpu/epilogue.inl.h"
#include "kernels/cpu/microkernel.inl.h"
#include "kernels/cpu/packing.inl.h"
#include "kernels/cpu/parallel.h"
#include "kernels/kernels.h"

namespace dragoman::internal {
namespace {

// Columns that are finished, epilogue included, before the next are begun: whole panels, whole blocks of dropout.
constexpr int64_t group_columns = tile_columns % 3 == 0 ? 3 * dropout_block : dropout_block;
static_assert(group_columns % tile_columns == 0 && group_columns % dropout_block == 0);

constexpr int64_t tiles_of_block = 128 / tile_rows;  // at most: a's block stays in the second-level cache
constexpr int64_t min_tiles_of_block = 56 / tile_rows;
constexpr int64_t columns_of_run = 2048;     // at most: b's part stays in the third-level cache
constexpr int64_t min_columns_of_run = 512;  // where each task copies its part of a
constexpr int64_t enough_tasks = 32;         // to share them evenly
constexpr int64_t enough_packing_tasks = 4;  // where every further block of rows packs b once more
constexpr int64_t few_rows = 5 * tiles_of_block * tile_rows;  // up to these, columns have to make the tasks
constexpr int64_t phase_floats = 1 << 18;                     // about, of the copies for all tasks
constexpr int64_t strip_floats = 1 << 19;  // about, of c where it is passed over once for each phase
constexpr int64_t min_columns_of_strip = 1024;

inline int64_t clamped(int64_t x, int64_t least, int64_t most) { return larger(least, smaller(x, most)); }

// The numbers of blocks of rows and of runs of columns that a product is split into.
struct Cut {
  int64_t tiles, groups;  // what is distributed over them
  int64_t row_blocks, column_runs;

  int64_t first_tile(int64_t block) const { return block * tiles / row_blocks; }
  int64_t first_column(int64_t run) const { return run * groups / column_runs * group_columns; }
};

inline Cut cut_product(int64_t rows, int64_t columns, bool packed) {
  Cut cut = {.tiles = ceil_div(rows, tile_rows), .groups = ceil_div(columns, group_columns)};
  const bool few = rows <= few_rows;
  const int64_t enough = few && !packed ? enough_packing_tasks : enough_tasks;
  const int64_t min_blocks = few && !packed ? 1 : ceil_div(cut.tiles, tiles_of_block);
  const int64_t max_runs = few ? cut.groups : ceil_div(columns, min_columns_of_run);
  cut.column_runs = clamped(ceil_div(enough_tasks, min_blocks), ceil_div(columns, columns_of_run),
                            smaller(max_runs, cut.groups));
  cut.row_blocks = clamped(ceil_div(enough, cut.column_runs), min_blocks,
                           larger(min_blocks, cut.tiles / min_tiles_of_block));
  return cut;
}

struct Product {
  ConstMatrix a, b;     // b: of its size alone, where it comes packed
  const float* packed;  // or null
  Matrix c;
  const Epilogue& epilogue;
};

inline Product product_with_packed(const ConstMatrix& a, const PackedMatrix& b, const Matrix& c,
                                   const Epilogue& epilogue) {
  return {a, {nullptr, b.rows, b.columns, 0, 0}, b.data, c, epilogue};
}

// The rows and columns of one task.
struct Part {
  int64_t first_row, rows, first_column, columns;
};

inline Part part_of(const Cut& cut, const Matrix& c, int64_t task) {
  const int64_t block = task % cut.row_blocks,
                run = task / cut.row_blocks;  // neighbours share their part of b
  const int64_t row = cut.first_tile(block) * tile_rows, column = cut.first_column(run);
  return {.first_row = row,
          .rows = smaller(c.rows, cut.first_tile(block + 1) * tile_rows) - row,
          .first_column = column,
          .columns = smaller(c.columns, cut.first_column(run + 1)) - column};
}

inline ConstMatrix columns_of(const ConstMatrix& m, int64_t first, int64_t count) {
  const float* data = m.data != nullptr ? m.data + first * m.column_stride : nullptr;
  return {data, m.rows, count, m.row_stride, m.column_stride};
}

// A group of columns over a block of the inner index. a: this block's copy.
template <class Kind, bool by_depth>
void multiply_group(const float* a, const float* b, int64_t depth, bool from_zero, const Matrix& c) {
  const int64_t panels = panel_count(c.columns), tiles = ceil_div(c.rows, tile_rows);
  const int64_t together = tiles == 1 ? panels_at_once(c.rows) : 1;
  for (int64_t panel = 0; panel < panels;) {
    const bool at_once = together > 1 && panel + together <= panels;
    const int64_t step = at_once ? together : 1;
    const float* next = b + (panel + step) * depth * tile_columns;
    for (int64_t i = 0, tile = 0, rows = 0; i < c.rows; i += rows, ++tile) {
      // Tiles of equal height keep the multipliers busier than whole ones and a remainder.
      const int64_t left = c.rows - i;
      rows = by_depth ? smaller(tile_rows, left) : ceil_div(left, tiles - tile);
      multiply_rows<Kind, by_depth>(rows, at_once,
                                    {.depth = depth,
                                     .a = by_depth ? a + tile * a_tile_step<true> : a + i * row_of_block,
                                     .b = b + panel * depth * tile_columns,
                                     .c = c.data + i * c.stride + panel * tile_columns,
                                     .c_stride = c.stride,
                                     .columns = c.columns - panel * tile_columns,
                                     .from_zero = from_zero,
                                     .upcoming = next + tile * depth * tile_columns / tiles,
                                     .upcoming_step = ceil_div(step * tile_columns, tiles)});
    }
    panel += step;
  }
}

// All groups of a part over one block of the inner index. a, b: this block's copies; where b is null, each group's
// panels are packed into `panels` when it is their turn.
template <class Kind, bool by_depth>
void multiply_block(const Product& product, const Part& part, int64_t begin, const float* a, const float* b,
                    float* panels = nullptr) {
  const Matrix& c = product.c;
  const int64_t inner = steps_of<Kind>(product.b.rows), depth = smaller(block_depth, inner - begin);
  const bool from_zero = begin == 0 && !product.epilogue.accumulate;
  const bool finishing = begin + block_depth >= inner && has_work(product.epilogue);
  for (int64_t done = 0; done < part.columns; done += group_columns) {
    const int64_t column = part.first_column + done, columns = smaller(group_columns, part.columns - done);
    if (b == nullptr)
      pack_panels<Kind>(columns_of(product.b, column, columns), begin, 0, panel_count(columns), panels);
    multiply_group<Kind, by_depth>(
        a, b == nullptr ? panels : b + column * depth, depth, from_zero,
        {c.data + part.first_row * c.stride + column, part.rows, columns, c.stride});
    if (finishing) finish_rows(product.epilogue, c, part.first_row, part.rows, column, columns);
  }
}

// How a product goes through its inner index, and what is copied on the way.
struct Plan {
  Cut cut;
  bool few;       // rows: `copies` are of a, else of b
  int64_t block;  // floats of a block of the inner index in the copies; 0 where b comes packed
  int64_t blocks_of_phase;
  // Floats to ask for, for all tasks together and for each worker. More rows or inner indices never need fewer: what
  // the largest batch has asked for is enough for any other.
  int64_t shared, own;
};

template <class Kind, bool by_depth>
Plan plan_product(const Product& product) {
  const Matrix& c = product.c;
  const bool packed = product.packed != nullptr;
  Plan plan = {.cut = cut_product(c.rows, c.columns, packed), .few = c.rows <= few_rows};
  const int64_t b_block = packed ? 0 : packed_size(block_depth, c.columns);
  plan.block = plan.few ? plan.cut.tiles * a_tile_step<by_depth> : b_block;
  const int64_t blocks = larger(1, ceil_div(steps_of<Kind>(product.b.rows), block_depth));
  // A phase passes over all of c, and should have something to show for it.
  const int64_t wanted = larger(phase_floats, c.rows * c.columns / 2);
  plan.blocks_of_phase = plan.block > 0 ? clamped(wanted / plan.block, 1, blocks) : blocks;
  const int64_t most = larger(smaller(plan.cut.tiles, few_rows / tile_rows) * a_tile_step<by_depth>, b_block);
  plan.shared = larger(most, smaller(wanted, blocks * most));
  plan.own =
      larger(smaller(plan.cut.tiles, tiles_of_block) * a_tile_step<by_depth>, group_columns * block_depth);
  return plan;
}

// One phase's share of what all tasks read: blocks of the inner index from `begin` on.
template <class Kind, bool by_depth>
void copy_for_phase(Context& context, const Product& product, const Plan& plan, int64_t begin, int64_t blocks,
                    float* copies) {
  const int64_t pieces = plan.few                    ? ceil_div(plan.cut.tiles, tiles_of_block)
                         : product.packed == nullptr ? pieces_of_block(product.c.columns)
                                                     : 0;
  for_each_task(context, blocks * pieces, [&](int64_t task, int) {
    const int64_t piece = task % pieces, inner = begin + task / pieces * block_depth;
    float* block = copies + task / pieces * plan.block;
    if (!plan.few) {
      pack_piece<Kind>(product.b, inner, piece, block);
      return;
    }
    const int64_t tile = piece * tiles_of_block, row = tile * tile_rows;
    copy_a<Kind, by_depth>(product.a, row, smaller(tiles_of_block * tile_rows, product.c.rows - row), inner,
                           block + tile * a_tile_step<by_depth>);
  });
}

// A task's share of one phase. `own` is its worker's memory.
template <class Kind, bool by_depth>
void multiply_part(const Product& product, const Plan& plan, int64_t begin, int64_t end, const Part& part,
                   const float* copies, float* own) {
  begin_tiles();
  const int64_t first_tile = part.first_row / tile_rows;
  for (int64_t inner = begin; inner == begin || inner < end; inner += block_depth, copies += plan.block) {
    const float* b =
        product.packed == nullptr ? nullptr : packed_block(product.packed, product.c.columns, inner);
    if (plan.few) {
      multiply_block<Kind, by_depth>(product, part, inner, copies + first_tile * a_tile_step<by_depth>, b,
                                     own);
    } else {
      copy_a<Kind, by_depth>(product.a, part.first_row, part.rows, inner, own);
      multiply_block<Kind, by_depth>(product, part, inner, own, b == nullptr ? copies : b);
    }
  }
  end_tiles();
}

template <class Kind, bool by_depth>
void run_product(Context& context, const Product& product) {
  const Plan plan = plan_product<Kind, by_depth>(product);
  const Cut& cut = plan.cut;
  const auto bytes = [](int64_t floats) { return sizeof(float) * static_cast<size_t>(floats); };
  float* copies = static_cast<float*>(cpu(context).shared(bytes(plan.shared)));
  const int64_t inner = steps_of<Kind>(product.b.rows), step = plan.blocks_of_phase * block_depth;
  for (int64_t begin = 0; begin == 0 || begin < inner; begin += step) {
    const int64_t end = smaller(inner, begin + step);
    copy_for_phase<Kind, by_depth>(context, product, plan, begin, ceil_div(end - begin, block_depth), copies);
    for_each_task(context, cut.row_blocks * cut.column_runs, [&](int64_t task, int worker) {
      float* own = static_cast<float*>(cpu(context).local(worker, bytes(plan.own)));
      multiply_part<Kind, by_depth>(product, plan, begin, end, part_of(cut, product.c, task), copies, own);
    });
  }
}

template <class Kind>
void run_product(Context& context, const Product& product) {
  if (product.c.rows <= 0 || product.c.columns <= 0) return;
  if constexpr (!in_tiles) {
    if (product.a.column_stride != 1) return run_product<Kind, true>(context, product);
  }
  run_product<Kind, false>(context, product);
}

template <class Kind>
void product(Context& context, ConstMatrix a, PackedMatrix b, Matrix c, const Epilogue& epilogue) {
  run_product<Kind>(context, product_with_packed(a, b, c, epilogue));
}

// Where neither all of b nor all of c would stay in the cache, c is finished strip by strip.
template <class Kind>
void multiply(Context& context, ConstMatrix a, ConstMatrix b, Matrix c, const Epilogue& epilogue) {
  if (c.rows <= 0 || c.columns <= 0) return;
  const bool whole = steps_of<Kind>(b.rows) <= block_depth || has_work(epilogue);
  const int64_t wanted = larger(min_columns_of_strip, strip_floats / larger(1, c.rows));
  const int64_t strips = whole ? 1 : ceil_div(c.columns, wanted);
  const int64_t width = ceil_div(ceil_div(c.columns, group_columns), strips) * group_columns;
  for (int64_t j = 0; j < c.columns; j += width) {
    const int64_t columns = smaller(width, c.columns - j);
    run_product<Kind>(
        context, {a, columns_of(b, j, columns), nullptr, {c.data + j, c.rows, columns, c.stride}, epilogue});
  }
}

}  // namespace
}  // namespace dragoman::internal
