// Loops over tasks for kernels: a lambda instead of a function pointer and its argument.
#pragma once

#include <stdint.h>

#include "kernels/context.h"

namespace dragoman::internal {
namespace {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The context of these kernels.
inline CpuContext& cpu(Context& context) { return static_cast<CpuContext&>(context); }

// body(task, worker) for each task of [0, count).
template <class Body>
void for_each_task(Context& context, int64_t count, const Body& body) {
  cpu(context).parallel(
      count,
      [](void* argument, int64_t task, int worker) { (*static_cast<const Body*>(argument))(task, worker); },
      const_cast<Body*>(&body));
}

// body(begin, end) over blocks of rows whose size depends on the row's width alone.
template <class Body>
void for_each_row_block(Context& context, int64_t rows, int64_t columns, const Body& body) {
  const int64_t block = larger(1, 4096 / larger(1, columns));
  for_each_task(context, ceil_div(rows, block),
                [&](int64_t task, int) { body(task * block, smaller(rows, (task + 1) * block)); });
}

// body(row) for each row.
template <class Body>
void for_each_row(Context& context, int64_t rows, int64_t columns, const Body& body) {
  for_each_row_block(context, rows, columns, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) body(r);
  });
}

}  // namespace
}  // namespace dragoman::internal
