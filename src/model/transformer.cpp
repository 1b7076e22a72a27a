#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/residual.h"

namespace dragoman {
namespace {

// The bits of the decoder's keys and values, with a cache and without one.
Precision cached_precision(const Transformer& model) {
  const bool narrow = !model.decoder.empty() && model.decoder[0].self_attention.qkv.weight.is_narrow();
  return narrow ? Precision::bf16 : Precision::fp32;
}

void round_as_cached(Pass& pass, const Transformer& model, const Tensor& keys_values) {
  if (cached_precision(model) == Precision::bf16)
    pass.device.kernels.round_to_bf16(pass.device.context, keys_values.matrix());
}

// What the decoder's self-attention has and the encoder's has not.
struct SelfAttentionOptions {
  bool causal = false;              // each token sees those up to itself
  const CacheStep* step = nullptr;  // where not null, a step of decoding
  size_t index = 0;                 // the layer's, in the step's cache
};

// 3.2 Attention, for all heads of all sentences at once.
Tensor self_attention(Pass& pass, const Transformer& model, const SelfAttention& layer, const Tensor& x,
                      const Tokens& tokens, const SelfAttentionOptions& options = {}) {
  const int64_t d = model.config.d_model;
  const Tensor qkv = linear(pass, x, layer.qkv);  // tokens × 3d
  const Tensor q = qkv.column_range(0, d), kv = qkv.column_range(d, 2 * d);
  if (options.step != nullptr) {  // decoding: the new tokens join those of the steps before
    const CacheStep& step = *options.step;
    step.cache->store(options.index, kv, step.rows);
    const KeyCache seen = step.cache->layer(options.index);
    return linear(pass, attention_to_cache(pass, q, tokens.spans, seen, step.keys), layer.output);
  }
  if (options.causal) round_as_cached(pass, model, kv);
  const Tensor heads = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                                 {.queries = &tokens.spans,
                                  .keys = &tokens.spans,
                                  .query_rows = &tokens.rows,
                                  .heads = model.config.heads,
                                  .causal = options.causal,
                                  .dropout = static_cast<float>(model.config.attention_dropout)});
  return linear(pass, heads, layer.output);
}

// The same with the target's queries and the source's keys and values.
Tensor cross_attention(Pass& pass, const Transformer& model, const CrossAttention& layer, const Tensor& x,
                       const Tokens& tokens, const Memory& memory, size_t index) {
  const int64_t d = model.config.d_model;
  const Tensor q = linear(pass, x, layer.query);
  if (memory.cache != nullptr) {
    const KeyCache seen = memory.cache->layer(index);
    return linear(pass, attention_to_cache(pass, q, tokens.spans, seen, *memory.keys), layer.output);
  }
  const Tensor kv = linear(pass, memory.encoded, layer.key_value);
  round_as_cached(pass, model, kv);
  const Tensor heads = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                                 {.queries = &tokens.spans,
                                  .keys = memory.spans,
                                  .query_rows = &tokens.rows,
                                  .heads = model.config.heads,
                                  .dropout = static_cast<float>(model.config.attention_dropout)});
  return linear(pass, heads, layer.output);
}

// 3.3 Position-wise feed-forward network.
Tensor feed_forward(Pass& pass, const Transformer& model, const FeedForward& layer, const Tensor& x,
                    const Tokens& tokens) {
  const Tensor inner = linear(pass, x, layer.inner,
                              {.activation = model.config.activation,
                               .dropout = static_cast<float>(model.config.activation_dropout),
                               .rows = &tokens.rows});
  return linear(pass, inner, layer.outer);
}

// 3.4 and 3.5: embeddings times √d_model, plus the positions.
Tensor embed_tokens(Pass& pass, const Transformer& model, const Tensor& table, PositionTable& positions,
                    const Tokens& tokens) {
  const float scale = std::sqrt(static_cast<float>(model.config.d_model));
  return embed(pass, tokens, table, positions.rows(pass.device.pool, tokens.positions), scale,
               static_cast<float>(model.config.embedding_dropout));
}

}  // namespace

Tensor encode(Pass& pass, Transformer& model, const Tokens& source) {
  Residual residual(pass, model.config, source.rows, model.encoder_norms,
                    embed_tokens(pass, model, model.source_embedding, model.source_positions, source));
  for (const EncoderLayer& layer : model.encoder) {
    residual.add(self_attention(pass, model, layer.self_attention, residual.input(), source));
    residual.add(feed_forward(pass, model, layer.feed_forward, residual.input(), source));
  }
  return residual.output();
}

Tensor decode(Pass& pass, Transformer& model, const Tokens& target, const Memory& memory,
              const CacheStep* step) {
  Residual residual(pass, model.config, target.rows, model.decoder_norms,
                    embed_tokens(pass, model, model.target_embedding, model.target_positions, target));
  for (size_t i = 0; i < model.decoder.size(); ++i) {
    const DecoderLayer& layer = model.decoder[i];
    residual.add(self_attention(pass, model, layer.self_attention, residual.input(), target,
                                {.causal = true, .step = step, .index = i}));
    residual.add(cross_attention(pass, model, layer.cross_attention, residual.input(), target, memory, i));
    residual.add(feed_forward(pass, model, layer.feed_forward, residual.input(), target));
  }
  return residual.output();
}

Cache make_cache(const Transformer& model) {
  const ModelConfig& config = model.config;
  return {model.device, cached_precision(model), config.decoder_layers, config.heads,
          config.d_model / config.heads};
}

void remember(Pass& pass, const Transformer& model, const Tensor& encoded, Cache& cache,
              std::span<const int32_t> rows) {
  const Array<int32_t> to(pass.device.pool, rows);
  cache.reserve(std::ranges::max(rows) + 1);
  for (size_t i = 0; i < model.decoder.size(); ++i)
    cache.store(i, linear(pass, encoded, model.decoder[i].cross_attention.key_value), to);
}

Tensor loss(Pass& pass, Transformer& model, const Tokens& source, const Tokens& target,
            const Array<int32_t>& targets, Smoothing smoothing) {
  const Memory memory = {.encoded = encode(pass, model, source), .spans = &source.spans};
  const Tensor decoded = decode(pass, model, target, memory);
  return cross_entropy(pass, decoded, model.generator.weight, model.generator.bias, targets, smoothing);
}

Tensor next_word_logits(Pass& pass, const Transformer& model, const Tensor& decoded) {
  return logits(pass, decoded, model.generator.weight, model.generator.bias);
}

}  // namespace dragoman
