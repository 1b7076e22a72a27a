#include <cmath>

#include "base/error.h"
#include "ops/ops.h"

namespace dragoman {

Tensor attention(Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options) {
  CHECK(q.columns() % options.heads == 0 && k.columns() == q.columns() && v.columns() == q.columns(),
        "widths {}, {}, {} for {} heads", q.columns(), k.columns(), v.columns(), options.heads);
  CHECK(options.queries->count() == options.keys->count(), "{} spans of queries, {} of keys",
        options.queries->count(), options.keys->count());
  CHECK(options.dropout == 0 || options.query_rows != nullptr, "dropout without rows");
  Device& device = pass.device;
  const int64_t width = q.columns() / options.heads;
  const AttentionShape shape = {
      .queries = options.queries->spans.data(),
      .keys = options.keys->spans.data(),
      .spans = options.queries->count(),
      .longest_keys = options.keys->longest,
      .heads = options.heads,
      .width = width,
      .scale = 1 / std::sqrt(static_cast<float>(width)),
      .causal = options.causal,
      .dropout =
          options.query_rows != nullptr ? pass.dropout(options.dropout, *options.query_rows) : Dropout{},
  };
  const Tensor out(device.pool, q.rows(), q.columns());
  const Tensor log_sums = pass.tape != nullptr ? Tensor(device.pool, q.rows(), options.heads) : Tensor();
  device.kernels.attention(device.context, shape, q, k, v, out.matrix(),
                           log_sums ? log_sums.data() : nullptr);

  if (pass.tape == nullptr) return out;
  pass.tape->record({}, [&device, shape, q, k, v, out, log_sums] {
    device.kernels.attention_backward(device.context, shape, q, k, v, out, out.gradient(), log_sums.data(),
                                      q.gradient_sum(), k.gradient_sum(), v.gradient_sum());
  });
  return out;
}

}  // namespace dragoman
