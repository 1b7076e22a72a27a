// What the options of [model] must be for Marian, and for Bergamot, to have such a model.
#include <cmath>
#include <string>
#include <vector>

#include "convert/exporters.h"

namespace dragoman::internal {
namespace {

// A product's inner dimension fills the registers of every processor that Bergamot runs on.
constexpr int64_t integer_multiple = 64;

class Needs {
 public:
  void add(bool has, const char* what) {
    if (!has) unmet_.emplace_back(what);
  }
  std::vector<std::string> take() { return std::move(unmet_); }

 private:
  std::vector<std::string> unmet_;
};

Needs needs_of_both(const ModelConfig& c, bool source_eos) {
  Needs needs;
  const bool is_scaled =
      c.embedding_scale == 0 || c.embedding_scale == std::sqrt(static_cast<double>(c.d_model));
  needs.add(c.kind == ModelKind::translation, "model.kind = \"translation\"");
  needs.add(c.positions == Positions::tensor2tensor, "model.positions = \"tensor2tensor\"");
  needs.add(c.position_offset == 0, "model.position_offset = 0");
  needs.add(c.relative_distance == 0, "model.relative_distance = 0");
  needs.add(!c.query_key_norm, "model.query_key_norm = false");
  needs.add(c.zero_start, "model.zero_start = true");
  needs.add(c.norm_kind == NormKind::layer, "model.norm_kind = \"layer\"");
  needs.add(c.norm_eps == 1e-6, "model.norm_eps = 1e-6");
  needs.add(!c.gated, "model.gated = false");
  needs.add(is_scaled, "model.embedding_scale = 0");
  needs.add(c.head_width == 0 || c.head_width * c.heads == c.d_model, "model.head_width = 0");
  needs.add(decoder_heads(c) == c.heads, "model.decoder_heads = 0");
  needs.add(!has_ssru(c) || !c.ssru_input_bias, "model.ssru_input_bias = false");
  needs.add(source_eos, "vocabulary.source_eos = true");
  return needs;
}

}  // namespace

std::vector<std::string> unmet_by_marian(const ModelConfig& c, bool source_eos) {
  Needs needs = needs_of_both(c, source_eos);
  needs.add(c.activation != Activation::gelu_tanh && c.activation != Activation::gelu_sigmoid,
            "model.activation = \"relu\", \"swish\" or \"gelu\"");
  return needs.take();
}

// Its gelu is that of earlier versions of Marian.
std::vector<std::string> unmet_by_bergamot(const ModelConfig& c, bool source_eos) {
  Needs needs = needs_of_both(c, source_eos);
  needs.add(c.activation != Activation::gelu_tanh && c.activation != Activation::gelu,
            "model.activation = \"relu\", \"swish\" or \"gelu_sigmoid\"");
  // Its decoder takes keys and values from what is not normalised yet.
  needs.add(c.norm == NormOrder::post || has_ssru(c),
            "model.norm = \"post\" or model.decoder_self_attention = \"ssru\"");
  needs.add(!has_own_generator(c), "model.tied = \"all\" or \"output\"");
  needs.add(decoder_d_ff(c) == c.d_ff, "model.decoder_d_ff = 0");
  needs.add(c.d_model % integer_multiple == 0, "a model.d_model that is a multiple of 64");
  needs.add(c.d_ff % integer_multiple == 0, "a model.d_ff that is a multiple of 64");
  return needs.take();
}

}  // namespace dragoman::internal
