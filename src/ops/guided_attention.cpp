#include "base/error.h"
#include "ops/ops.h"

namespace dragoman::internal {

// The gradient of the scores is there once the loss is, and takes little memory: one head's.
Tensor guided_attention(Pass& pass, const Tensor& q, const Tensor& k, const GuidedAttentionOptions& options) {
  const Spans &queries = *options.queries, &keys = *options.keys;
  const TokenLinks& links = *options.links;
  CHECK(queries.rows == q.rows() && links.begins.size() == q.rows() + 1,
        "{} queries, {} of them in spans, {} with links", q.rows(), queries.rows, links.begins.size() - 1);
  CHECK(!q.is_in_bf16() && !k.is_in_bf16(), "q and k are in bf16 alone");
  Device& device = pass.device;
  const AttentionOptions of_head = {.queries = &queries, .keys = &keys};
  const Tensor weights = attention_weights(pass, q, k, of_head);
  const Tensor losses(device.pool, q.rows(), 1);
  device.kernels.alignment_loss(device.context, {links.begins.data(), links.keys.data()}, options.weight,
                                weights.matrix(), losses.data());
  if (pass.tape == nullptr) return losses;
  const auto backward = [&device, shape = attention_shape(q, k, of_head), weights, q, k] {
    device.kernels.scores_backward(device.context, shape, weights, q, k, q.gradient_sum(), k.gradient_sum());
  };
  pass.tape->record({}, backward);
  return losses;
}

}  // namespace dragoman::internal
