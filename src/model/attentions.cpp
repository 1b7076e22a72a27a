#include "model/attentions.h"

#include "base/error.h"

namespace dragoman::internal {
namespace {

// The attentions in the order of the program: the encoder's layers, then for each layer of the decoder self-attention,
// unless it has another unit instead, and cross-attention. Not of a language model.
std::vector<Tensor> probed(Transformer& model, const Tokens& source, const Tokens& target, int64_t only) {
  CHECK(has_encoder(model.config), "a language model");
  AttentionProbe probe = {.only = only};
  Pass pass{.device = model.device, .probe = &probe};
  decode(pass, model, target, memory_of(pass, model, source));
  return std::move(probe.weights);
}

int64_t attentions_of_decoder_layer(const ModelConfig& config) { return has_ssru(config) ? 1 : 2; }

}  // namespace

Attentions attentions(Transformer& model, const Tokens& source, const Tokens& target) {
  const std::vector<Tensor> all = probed(model, source, target, -1);
  const size_t encoder_layers = model.encoder.size(),
               of_layer = static_cast<size_t>(attentions_of_decoder_layer(model.config));
  CHECK(all.size() == encoder_layers + of_layer * model.decoder.size(), "{} attentions", all.size());
  Attentions found;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool is_last = i >= encoder_layers && (i - encoder_layers) % of_layer == of_layer - 1;
    auto& kind = i < encoder_layers ? found.encoder : is_last ? found.cross : found.decoder;
    kind.push_back(all[i]);
  }
  return found;
}

int64_t cross_attention_number(const ModelConfig& config, int64_t layer) {
  return attentions_of_decoder_layer(config) * layer - 1;
}

Tensor cross_attention(Transformer& model, const Tokens& source, const Tokens& target, int64_t layer) {
  CHECK(layer >= 1 && layer <= model.config.decoder_layers, "layer {} of {}", layer,
        model.config.decoder_layers);
  const int64_t number = model.config.encoder_layers + cross_attention_number(model.config, layer);
  return probed(model, source, target, number)[0];
}

}  // namespace dragoman::internal
