#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "model/caches.h"
#include "model/residual.h"
#include "ops/products.h"

namespace dragoman::internal {
namespace {

// What all self-attentions of a stack have in common.
struct SelfAttentionOptions {
  Tensor angles, distance_bias;  // of positions that the embeddings do not have
  bool bias_learns = false;
  bool causal = false;              // each token sees those up to itself
  const CacheStep* step = nullptr;  // unless null, a step of decoding
};

SelfAttentionOptions with_positions(Pass& pass, const Transformer& model, AttentionPositions& positions,
                                    const Tokens& tokens, int64_t longest_keys) {
  SelfAttentionOptions options;
  if (model.config.positions == Positions::rotary)
    options.angles = positions.angles.rows(pass.device.pool, tokens.positions);
  options.distance_bias = positions.bias.rows(pass, longest_keys);
  options.bias_learns = positions.bias.learns();
  return options;
}

// Whether decoding has what this weight makes of queries, keys or values in bf16 alone.
bool decodes_in_bf16(const Device& device, const Tensor& weight, int64_t width) {
  const auto& attends = device.kernels.low_precision.attends_in_bf16;
  return is_kept_in_bf16(device, weight) && attends != nullptr && attends(width);
}

bool takes_bf16(const Pass& pass, const Tensor& weight, int64_t width) {
  if (pass.tape != nullptr || pass.trace != nullptr) return attends_in_bf16(pass, width);
  return attends_in_bf16(pass, width) || decodes_in_bf16(pass.device, weight, width);
}

// Whether nothing but products reads queries, keys and values.
bool is_plain(const ModelConfig& config, const SelfAttention& layer) {
  return config.positions != Positions::rotary && config.positions != Positions::alibi &&
         config.positions != Positions::t5 && !layer.distance_keys;
}

// Queries or keys of heads side by side, as attention takes them.
void normalise(Pass& pass, const ModelConfig& config, const Tensor& heads, int64_t width) {
  if (config.query_key_norm) normalise_heads(pass, heads, width, static_cast<float>(config.norm_eps));
}

// What a sublayer adds to the residual sum: bf16 alone in training, floats in decoding.
LinearOptions for_sum(const Pass& pass) { return {.for_bf16 = rounds_once(pass.device, pass.precision)}; }

// 3.2 Attention, for all heads of all sentences at once. index: of the layer, in the step's cache.
Tensor self_attention(Pass& pass, const Transformer& model, const SelfAttention& layer, const Tensor& x,
                      const Tokens& tokens, const SelfAttentionOptions& options, size_t index) {
  const CacheStep* step = options.step;
  const int64_t d = attention_width(model.config, layer.heads);
  const bool in_bf16 =
      step != nullptr ? step->cache->key_values[index].is_in_bf16()
                      : is_plain(model.config, layer) && takes_bf16(pass, layer.qkv.weight, d / layer.heads);
  const Tensor qkv = linear(pass, x, layer.qkv, {.for_bf16 = in_bf16});  // tokens × 3d
  if (options.angles) rotate(pass, qkv.column_range(0, 2 * d), options.angles, tokens.rows);
  normalise(pass, model.config, qkv.column_range(0, 2 * d), d / layer.heads);
  const Tensor q = qkv.column_range(0, d);
  Tensor kv = qkv.column_range(d, 2 * d);
  if (step != nullptr) {  // decoding: the new tokens join those of the steps before
    const Tensor& seen = step->cache->key_values[index];
    pass.device.kernels.scatter_rows(pass.device.context, kv, step->rows.data(), seen.matrix());
    kv = seen;
  }
  const Tensor heads = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                                 {.queries = &tokens.spans,
                                  .keys = step != nullptr ? &step->keys.spans : &tokens.spans,
                                  .key_rows = step != nullptr ? &step->keys.rows : nullptr,
                                  .query_rows = &tokens.rows,
                                  .heads = layer.heads,
                                  .causal = options.causal,
                                  .dropout = static_cast<float>(model.config.attention_dropout),
                                  .distance_bias = options.distance_bias,
                                  .bias_learns = options.bias_learns,
                                  .distance_keys = layer.distance_keys,
                                  .distance_values = layer.distance_values});
  return linear(pass, heads, layer.output, for_sum(pass));
}

// Recorded before what reads the bias, and so run after it has added to the gradient.
void leave_input_bias(Pass& pass, const Tensor& bias) {
  if (pass.tape == nullptr) return;
  pass.tape->record({&bias}, [&memory = pass.device.memory, bias] {
    const int64_t d = bias.columns() / 2;
    memory.fill(bias.column_range(d, d).gradient(), 0);
  });
}

// Instead of it, each token's state follows from the one before; in a step of decoding, that of the step before.
Tensor recurrent_unit(Pass& pass, const Ssru& layer, const Tensor& x, const Tokens& tokens,
                      const CacheStep* step, size_t index) {
  if (!layer.learns_input_bias) leave_input_bias(pass, layer.gate_and_input.bias);
  const Tensor gate_and_input = linear(pass, x, layer.gate_and_input);  // tokens × 2d
  if (step == nullptr) return ssru(pass, gate_and_input, {.spans = &tokens.spans}).output;
  const Tensor& seen = step->cache->key_values[index];
  const auto [states, output] =
      ssru(pass, gate_and_input,
           {.spans = &tokens.spans, .seen = seen, .keys = &step->keys.spans, .key_rows = &step->keys.rows});
  pass.device.kernels.scatter_rows(pass.device.context, states, step->rows.data(), seen.matrix());
  return output;
}

// What guides the cross-attention of this layer, counted from 0; null where nothing does.
GuidedAlignment* guided_here(const Pass& pass, size_t index) {
  const bool here = pass.guided != nullptr && pass.guided->layer == static_cast<int64_t>(index) + 1;
  return here ? pass.guided : nullptr;
}

// The source's keys and values in a layer.
Tensor keys_and_values(Pass& pass, const ModelConfig& config, const CrossAttention& layer,
                       const Tensor& encoded, bool in_bf16) {
  const int64_t d = attention_width(config, layer.heads);
  const Tensor kv = linear(pass, encoded, layer.key_value, {.for_bf16 = in_bf16});
  normalise(pass, config, kv.column_range(0, d), d / layer.heads);
  return kv;
}

// Attention with the target's queries and the source's keys and values.
Tensor cross_attention(Pass& pass, const Transformer& model, const CrossAttention& layer, const Tensor& x,
                       const Tokens& tokens, const EncodedSource& memory, size_t index) {
  const int64_t d = attention_width(model.config, layer.heads);
  GuidedAlignment* guided = guided_here(pass, index);
  const bool in_bf16 = !memory.key_values.empty()
                           ? memory.key_values[index].is_in_bf16()
                           : guided == nullptr && takes_bf16(pass, layer.key_value.weight, d / layer.heads);
  const Tensor q = linear(pass, x, layer.query, {.for_bf16 = in_bf16});
  normalise(pass, model.config, q, d / layer.heads);
  const Tensor kv = memory.key_values.empty()
                        ? keys_and_values(pass, model.config, layer, memory.encoded, in_bf16)
                        : memory.key_values[index];
  const Tensor heads = attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                                 {.queries = &tokens.spans,
                                  .keys = memory.spans,
                                  .key_rows = memory.rows,
                                  .query_rows = &tokens.rows,
                                  .heads = layer.heads,
                                  .dropout = static_cast<float>(model.config.attention_dropout)});
  if (guided != nullptr) {
    guided->losses = guided_attention(
        pass, q.column_range(0, d / layer.heads), kv.column_range(0, d / layer.heads),
        {.queries = &tokens.spans, .keys = memory.spans, .links = &guided->links, .weight = guided->weight});
  }
  return linear(pass, heads, layer.output, for_sum(pass));
}

// 3.3 Position-wise feed-forward network.
Tensor feed_forward(Pass& pass, const Transformer& model, const FeedForward& layer, const Tensor& x,
                    const Tokens& tokens) {
  Tensor inner = linear(pass, x, layer.inner,
                        {.activation = model.config.activation,
                         .dropout = static_cast<float>(model.config.activation_dropout),
                         .rows = &tokens.rows,
                         .for_bf16 = !model.config.gated});
  if (model.config.gated) inner = multiply_elements(pass, inner, linear(pass, x, layer.value));
  return linear(pass, inner, layer.outer, for_sum(pass));
}

// 3.4 and 3.5: embeddings times √d_model, plus the positions, unless attention has them.
Tensor embed_tokens(Pass& pass, const ModelConfig& config, Embedding& layer, const Tokens& tokens,
                    bool zero_start = false) {
  const double d_model = static_cast<double>(config.d_model), scale = config.embedding_scale;
  const Tensor positions =
      is_added(config.positions) ? layer.positions.rows(pass.device.pool, tokens.positions) : Tensor();
  const auto rate = static_cast<float>(config.embedding_dropout);
  const Tensor sum = embed(pass, tokens, layer.tokens, positions,
                           {.scale = static_cast<float>(scale > 0 ? scale : std::sqrt(d_model)),
                            .dropout = config.embedding_norm ? 0 : rate,
                            .zero_start = zero_start});
  if (!config.embedding_norm) return sum;
  const auto epsilon = static_cast<float>(config.norm_eps);
  return dropout(pass, norm(pass, sum, layer.norm.gain, layer.norm.bias, epsilon), rate, tokens.rows);
}

}  // namespace

Tensor encode(Pass& pass, Transformer& model, const Tokens& source) {
  Residual residual(pass, model.config, source.rows,
                    embed_tokens(pass, model.config, model.source_embedding, source));
  const SelfAttentionOptions options =
      with_positions(pass, model, model.encoder_positions, source, source.spans.longest);
  for (size_t i = 0; i < model.encoder.size(); ++i) {
    const EncoderLayer& layer = model.encoder[i];
    residual.add(layer.self_attention.norm, [&](const Tensor& x) {
      return self_attention(pass, model, layer.self_attention, x, source, options, i);
    });
    residual.add(layer.feed_forward.norm,
                 [&](const Tensor& x) { return feed_forward(pass, model, layer.feed_forward, x, source); });
  }
  return residual.output(model.encoder_norm);
}

Tensor decode(Pass& pass, Transformer& model, const Tokens& target, const EncodedSource& memory,
              const CacheStep* step) {
  Residual residual(
      pass, model.config, target.rows,
      embed_tokens(pass, model.config, model.target_embedding, target, model.config.zero_start));
  SelfAttentionOptions options =
      with_positions(pass, model, model.decoder_positions, target,
                     step != nullptr ? step->keys.spans.longest : target.spans.longest);
  options.causal = true;
  options.step = step;
  for (size_t i = 0; i < model.decoder.size(); ++i) {
    const DecoderLayer& layer = model.decoder[i];
    residual.add(has_ssru(model.config) ? layer.ssru.norm : layer.self_attention.norm, [&](const Tensor& x) {
      return has_ssru(model.config)
                 ? recurrent_unit(pass, layer.ssru, x, target, step, i)
                 : self_attention(pass, model, layer.self_attention, x, target, options, i);
    });
    if (has_encoder(model.config)) {
      residual.add(layer.cross_attention.norm, [&](const Tensor& x) {
        return cross_attention(pass, model, layer.cross_attention, x, target, memory, i);
      });
    }
    residual.add(layer.feed_forward.norm,
                 [&](const Tensor& x) { return feed_forward(pass, model, layer.feed_forward, x, target); });
  }
  return residual.output(model.decoder_norm);
}

EncodedSource memory_of(Pass& pass, Transformer& model, const Tokens& source) {
  EncodedSource memory = {.spans = &source.spans};
  if (has_encoder(model.config)) memory.encoded = encode(pass, model, source);
  return memory;
}

Numbers source_cache_numbers(const Transformer& model) {
  const CrossAttention& layer = model.decoder[0].cross_attention;
  const int64_t heads = decoder_heads(model.config), width = attention_width(model.config, heads) / heads;
  const bool in_bf16 =
      has_encoder(model.config) && decodes_in_bf16(model.device, layer.key_value.weight, width);
  return in_bf16 ? Numbers::bf16 : Numbers::floats;
}

Numbers target_cache_numbers(const Transformer& model) {
  const SelfAttention& layer = model.decoder[0].self_attention;
  const int64_t heads = decoder_heads(model.config), width = attention_width(model.config, heads) / heads;
  const bool in_bf16 = !has_ssru(model.config) && is_plain(model.config, layer) &&
                       decodes_in_bf16(model.device, layer.qkv.weight, width);
  return in_bf16 ? Numbers::bf16 : Numbers::floats;
}

namespace {

Cache new_cache(const Transformer& model, int64_t columns, Numbers numbers) {
  Cache cache;
  for (size_t i = 0; i < model.decoder.size(); ++i)
    cache.key_values.emplace_back(model.device.pool, 0, columns, numbers);
  return cache;
}

}  // namespace

Cache source_cache(const Transformer& model) {
  return new_cache(model, source_cache_columns(model.config), source_cache_numbers(model));
}

Cache target_cache(const Transformer& model) {
  return new_cache(model, target_cache_columns(model.config), target_cache_numbers(model));
}

void cache_cross_attention(Pass& pass, const Transformer& model, const Tensor& encoded, Cache& cache,
                           std::span<const int32_t> rows) {
  Device& device = pass.device;
  const Array<int32_t> to(device.pool, rows);
  CHECK(encoded.rows() == to.size(), "{} tokens for {} rows", encoded.rows(), to.size());
  reserve(device, cache, std::ranges::max(rows) + 1);
  for (size_t i = 0; i < model.decoder.size(); ++i) {
    const Tensor kv = keys_and_values(pass, model.config, model.decoder[i].cross_attention, encoded,
                                      cache.key_values[i].is_in_bf16());
    device.kernels.scatter_rows(device.context, kv, to.data(), cache.key_values[i].matrix());
  }
}

Tensor loss(Pass& pass, Transformer& model, const Tokens& source, const Tokens& target,
            const Array<int32_t>& targets, Smoothing smoothing) {
  const EncodedSource memory = memory_of(pass, model, source);
  const Tensor decoded = decode(pass, model, target, memory);
  return cross_entropy(pass, decoded, model.generator.weight, model.generator.bias, targets, smoothing);
}

Tensor next_word_logits(Pass& pass, const Transformer& model, const Tensor& decoded) {
  return logits(pass, decoded, model.generator.weight, model.generator.bias);
}

Tensor embed_tokens(Pass& pass, Transformer& model, Stack stack, const Tokens& tokens) {
  return stack == Stack::encoder
             ? embed_tokens(pass, model.config, model.source_embedding, tokens)
             : embed_tokens(pass, model.config, model.target_embedding, tokens, model.config.zero_start);
}

Tensor self_attention(Pass& pass, Transformer& model, Stack stack, size_t layer, const Tensor& x,
                      const Tokens& tokens) {
  const bool in_decoder = stack == Stack::decoder;
  if (in_decoder && has_ssru(model.config))
    return recurrent_unit(pass, model.decoder[layer].ssru, x, tokens, nullptr, layer);
  SelfAttentionOptions options =
      with_positions(pass, model, in_decoder ? model.decoder_positions : model.encoder_positions, tokens,
                     tokens.spans.longest);
  options.causal = in_decoder;
  const SelfAttention& attention =
      in_decoder ? model.decoder[layer].self_attention : model.encoder[layer].self_attention;
  return self_attention(pass, model, attention, x, tokens, options, layer);
}

Tensor cross_attention(Pass& pass, const Transformer& model, size_t layer, const Tensor& x,
                       const Tokens& tokens, const EncodedSource& memory) {
  return cross_attention(pass, model, model.decoder[layer].cross_attention, x, tokens, memory, layer);
}

Tensor feed_forward(Pass& pass, const Transformer& model, Stack stack, size_t layer, const Tensor& x,
                    const Tokens& tokens) {
  const FeedForward& network =
      stack == Stack::encoder ? model.encoder[layer].feed_forward : model.decoder[layer].feed_forward;
  return feed_forward(pass, model, network, x, tokens);
}

}  // namespace dragoman::internal
