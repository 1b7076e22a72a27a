#include "convert/marian/written_settings.h"

#include <fmt/format.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

// Marian's numbers of bytes and lines, which say how its batches are made.
constexpr const char* batches_of_marian = "mini-batch: 64\nmaxi-batch: 100\nmaxi-batch-sort: src\n";
constexpr const char* batches_of_bergamot =
    "max-length-break: 128\nmini-batch-words: 1024\nworkspace: 128\ncpu-threads: 1\nquiet: true\n"
    "quiet-translation: true\nskip-cost: true\nalignment: soft\n";

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::swish:
      return "swish";
    default:
      return "gelu";
  }
}

std::string shape_of_model(const ModelConfig& c, MarianProgram program) {
  std::string text = fmt::format(
      "type: transformer\ndim-emb: {}\ndim-vocabs:\n  - {}\n  - {}\nenc-depth: {}\ndec-depth: {}\n"
      "transformer-heads: {}\ntransformer-dim-ffn: {}\n",
      c.d_model, c.source_vocabulary, c.target_vocabulary, c.encoder_layers, c.decoder_layers, c.heads,
      c.d_ff);
  if (program == MarianProgram::marian)
    text += fmt::format("transformer-decoder-dim-ffn: {}\n", c.decoder_d_ff == c.d_ff ? 0 : c.decoder_d_ff);
  text += fmt::format("transformer-ffn-activation: {}\n", name_of(c.activation));
  return text;
}

std::string kinds_of_layers(const ModelConfig& c) {
  const bool pre = c.norm == NormOrder::pre;
  const auto flag = [](bool set) { return set ? "true" : "false"; };
  return fmt::format(
      "transformer-preprocess: {}\ntransformer-postprocess: {}\ntransformer-postprocess-top: {}\n"
      "transformer-postprocess-emb: {}\ntransformer-decoder-autoreg: {}\ndec-cell: {}\n"
      "tied-embeddings: {}\ntied-embeddings-all: {}\ntied-embeddings-src: {}\n",
      pre ? "n" : "\"\"", pre ? "da" : "dan", pre ? "n" : "\"\"", c.embedding_norm ? "dn" : "d",
      has_ssru(c) ? "rnn" : "self-attention", has_ssru(c) ? "ssru" : "gru", flag(c.tied == Tied::output),
      flag(c.tied == Tied::all), flag(c.tied == Tied::inputs));
}

std::string guided_layer(const ModelConfig& c) {
  const std::string layer = c.alignment_layer > 0 ? std::to_string(c.alignment_layer) : "last";
  return "transformer-guided-alignment-layer: " + layer + "\n";
}

// Marian has no defaults of its own for these when it reads a model.
constexpr const char* fixed_settings =
    "bert-train-type-embeddings: true\nbert-type-vocab-size: 2\ndec-cell-base-depth: 2\n"
    "dec-cell-high-depth: 1\ndim-rnn: 1024\nenc-cell: gru\nenc-cell-depth: 1\nenc-type: bidirectional\n"
    "factors-combine: sum\nfactors-dim-emb: 0\ninput-types:\n  []\nlayer-normalization: false\n"
    "lemma-dependency: \"\"\nlemma-dim-emb: 0\noutput-omit-bias: false\nright-left: false\nskip: false\n"
    "transformer-aan-activation: swish\ntransformer-aan-depth: 2\ntransformer-aan-nogate: false\n"
    "transformer-decoder-ffn-depth: 0\ntransformer-depth-scaling: false\ntransformer-dim-aan: 2048\n"
    "transformer-ffn-depth: 2\ntransformer-no-affine: false\n"
    "transformer-no-bias: false\ntransformer-no-projection: false\ntransformer-pool: false\n"
    "transformer-rnn-projection: false\ntransformer-tied-layers:\n  []\n"
    "transformer-train-position-embeddings: false\ntransformer-train-positions: false\nulr: false\n"
    "ulr-dim-emb: 0\nulr-trainable-transformation: false\n";

}  // namespace

// The version says which function gelu is: since 1.12 the exact one.
std::string marian_configuration(const ModelConfig& config, MarianProgram program) {
  return shape_of_model(config, program) + kinds_of_layers(config) + guided_layer(config) + fixed_settings +
         (program == MarianProgram::marian ? "version: v1.12.0 by dragoman\n"
                                           : "version: v1.9.0 by dragoman\n");
}

std::string marian_decoder_settings(const MarianFileNames& files, const SearchOptions& search,
                                    MarianProgram program, bool fixed_activations) {
  std::string text = fmt::format("relative-paths: true\nmodels:\n  - {}\nvocabs:\n  - {}\n  - {}\n",
                                 files.model, files.source_vocabulary, files.target_vocabulary);
  if (!files.shortlist.empty()) text += fmt::format("shortlist:\n  - {}\n  - 0\n", files.shortlist);
  const double most = search.max_length_ratio > 0 ? search.max_length_ratio : 3;
  text += fmt::format("beam-size: {}\nnormalize: {}\nword-penalty: 0\nmax-length-factor: {}\n", search.beam,
                      search.length_penalty, most);
  if (program == MarianProgram::marian) return text + batches_of_marian;
  return text + batches_of_bergamot +
         (fixed_activations ? "gemm-precision: int8shiftAlphaAll\n" : "gemm-precision: int8shiftAll\n");
}

}  // namespace dragoman::internal
