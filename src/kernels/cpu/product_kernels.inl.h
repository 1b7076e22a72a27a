// A table's products in one arithmetic (product_arithmetic.inl.h): large ones, which threads share, and many small
// ones.
#pragma once

#include <stdint.h>

#include "kernels/cpu/products.inl.h"
#include "kernels/cpu/single_thread.inl.h"

namespace dragoman::internal {
namespace {

// Each is a task of its own, unless it is large enough to be shared.
template <class Kind>
void multiply_each(Context& context, const SmallProduct* products, int64_t count) {
  constexpr int64_t large = 1 << 24;  // multiplications
  const auto is_large = [](const SmallProduct& p) { return p.c.rows * p.c.columns * p.b.rows >= large; };
  for_each_task(context, count, [&](int64_t task, int worker) {
    const SmallProduct& p = products[task];
    if (is_large(p)) return;
    const int64_t floats = packed_size(steps_of<Kind>(p.b.rows), p.b.columns) + single_thread_block_size();
    float* const packed =
        static_cast<float*>(cpu(context).local(worker, sizeof(float) * static_cast<size_t>(floats)));
    float* const block = packed + (floats - single_thread_block_size());
    pack_single_thread<Kind>(p.b, packed);
    begin_tiles();
    multiply_single_thread<Kind>(p.a, {packed, p.b.rows, p.b.columns}, p.c, p.accumulate, block);
    end_tiles();
  });
  for (const SmallProduct* p = products; p != products + count; ++p)
    if (is_large(*p)) multiply<Kind>(context, p->a, p->b, p->c, {.accumulate = p->accumulate});
}

template <class Kind>
constexpr ProductKernels product_kernels = {
    .packed_size = [](int64_t rows, int64_t columns) { return packed_size(steps_of<Kind>(rows), columns); },
    .pack = pack<Kind>,
    .product = product<Kind>,
    .multiply = multiply<Kind>,
    .multiply_each = multiply_each<Kind>,
};

}  // namespace
}  // namespace dragoman::internal
