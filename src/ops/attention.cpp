#include <cmath>

#include "base/error.h"
#include "ops/ops.h"
#include "ops/products.h"
#include "ops/trace.h"

namespace dragoman::internal {
namespace {

void check_distances(const Tensor& table, int64_t columns, const AttentionOptions& options) {
  CHECK(!table || (table.columns() == columns && table.rows() % 2 == 1 &&
                   options.queries->longest <= options.keys->longest),
        "{} × {} by distance, {} queries and {} keys", table.rows(), table.columns(),
        options.queries->longest, options.keys->longest);
}

void collect(AttentionProbe& probe, Pass& pass, const Tensor& q, const Tensor& k,
             const AttentionOptions& options) {
  if (probe.only < 0 || probe.only == probe.seen)
    probe.weights.push_back(attention_weights(pass, q, k, options));
  ++probe.seen;
}

}  // namespace

AttentionShape attention_shape(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  CHECK(q.columns() % options.heads == 0 && k.columns() == q.columns(), "widths {}, {} for {} heads",
        q.columns(), k.columns(), options.heads);
  CHECK(options.queries->count() == options.keys->count(), "{} spans of queries, {} of keys",
        options.queries->count(), options.keys->count());
  CHECK(!options.causal || options.queries->longest <= options.keys->longest,
        "{} queries see the last of {} keys", options.queries->longest, options.keys->longest);
  const int64_t width = q.columns() / options.heads;
  const Tensor &bias = options.distance_bias, &keys = options.distance_keys,
               &values = options.distance_values;
  check_distances(bias, options.heads, options);
  check_distances(keys, width, options);
  check_distances(values, width, options);
  CHECK(keys.rows() == values.rows(), "{} distances of keys, {} of values", keys.rows(), values.rows());
  return {.queries = options.queries->spans.data(),
          .keys = options.keys->spans.data(),
          .key_rows = options.key_rows != nullptr ? options.key_rows->data() : nullptr,
          .spans = options.queries->count(),
          .longest_keys = options.keys->longest,
          .heads = options.heads,
          .width = width,
          .scale = 1 / std::sqrt(static_cast<float>(width)),
          .causal = options.causal,
          .dropout = {},
          .distance_bias = bias ? ConstMatrix(bias) : ConstMatrix{},
          .distance_keys = keys ? ConstMatrix(keys) : ConstMatrix{},
          .distance_values = values ? ConstMatrix(values) : ConstMatrix{}};
}

Tensor attention_weights(Pass& pass, const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  const AttentionShape shape = attention_shape(q, k, options);
  const Tensor weights(pass.device.pool, q.rows(), shape.heads * shape.longest_keys);
  pass.device.kernels.attention_weights(pass.device.context, shape, q, k, weights.matrix());
  return weights;
}

bool attends_in_bf16(const Pass& pass, int64_t width) {
  const auto& attends = pass.device.kernels.low_precision.attends_in_bf16;
  return rounds_once(pass.device, pass.precision) && attends != nullptr && attends(width);
}

Tensor attention(Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v,
                 const AttentionOptions& options) {
  CHECK(v.columns() == k.columns(), "values of {} columns for keys of {}", v.columns(), k.columns());
  CHECK(options.dropout == 0 || options.query_rows != nullptr, "dropout without rows");
  CHECK(options.key_rows == nullptr || (pass.tape == nullptr && options.queries->longest == 1),
        "keys are listed for {} queries", options.queries->longest);
  Device& device = pass.device;
  AttentionShape shape = attention_shape(q, k, options);
  if (options.query_rows != nullptr) shape.dropout = pass.dropout(options.dropout, *options.query_rows);
  CHECK(q.is_in_bf16() == k.is_in_bf16() && k.is_in_bf16() == v.is_in_bf16(),
        "some of q, k and v are in bf16");
  const Tensor out(device.pool, q.rows(), q.columns(), q.is_in_bf16() ? Numbers::bf16 : Numbers::floats);
  if (pass.tape != nullptr && rounds_once(device, pass.precision)) out.keep_rounded();
  const Tensor log_sums = pass.tape != nullptr ? Tensor(device.pool, q.rows(), options.heads) : Tensor();
  device.kernels.attention(device.context, shape, q, k, v, out.matrix(),
                           log_sums ? log_sums.data() : nullptr);
  if (pass.probe != nullptr) collect(*pass.probe, pass, q, k, options);
  if (pass.trace != nullptr) pass.trace->attentions.push_back({q, k, v, options, out});

  if (pass.tape == nullptr) return out;
  // Whether every row is in a span.
  const bool every_row = options.queries->rows == q.rows() && options.keys->rows == k.rows();
  const Tensor bias = options.distance_bias, keys = options.distance_keys, values = options.distance_values;
  const bool bias_learns = bias && options.bias_learns;
  const auto backward = [&device, shape, q, k, v, out, log_sums, every_row, bias, bias_learns, keys, values] {
    const bool fresh = every_row && Tensor::make_gradients({q, k, v});
    device.kernels.attention_backward(device.context, shape, q, k, v, out, out.gradient(), log_sums.data(),
                                      !fresh, q.gradient_sum(), k.gradient_sum(), v.gradient_sum(),
                                      {.bias = bias_learns ? bias.gradient_sum() : Matrix{},
                                       .keys = keys ? keys.gradient_sum() : Matrix{},
                                       .values = values ? values.gradient_sum() : Matrix{}});
  };
  pass.tape->record({&keys, &values}, backward);
  return out;
}

}  // namespace dragoman::internal
