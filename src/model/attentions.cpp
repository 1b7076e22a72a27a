#include "model/attentions.h"

#include "base/error.h"

namespace dragoman::internal {
namespace {

// The attentions in the order of the program: the encoder's layers, then for each layer of the decoder self-attention
// and cross-attention.
std::vector<Tensor> probed(Transformer& model, const Tokens& source, const Tokens& target, int64_t only) {
  AttentionProbe probe = {.only = only};
  Pass pass{.device = model.device, .probe = &probe};
  const Memory memory = {.encoded = encode(pass, model, source), .spans = &source.spans};
  decode(pass, model, target, memory);
  return std::move(probe.weights);
}

}  // namespace

Attentions attentions(Transformer& model, const Tokens& source, const Tokens& target) {
  const std::vector<Tensor> all = probed(model, source, target, -1);
  const size_t encoder_layers = model.encoder.size();
  CHECK(all.size() == encoder_layers + 2 * model.decoder.size(), "{} attentions", all.size());
  Attentions found;
  for (size_t i = 0; i < all.size(); ++i) {
    auto& kind = i < encoder_layers              ? found.encoder
                 : (i - encoder_layers) % 2 == 0 ? found.decoder
                                                 : found.cross;
    kind.push_back(all[i]);
  }
  return found;
}

Tensor cross_attention(Transformer& model, const Tokens& source, const Tokens& target, int64_t layer) {
  CHECK(layer >= 1 && layer <= model.config.decoder_layers, "layer {} of {}", layer,
        model.config.decoder_layers);
  return probed(model, source, target, model.config.encoder_layers + 2 * (layer - 1) + 1)[0];
}

}  // namespace dragoman::internal
