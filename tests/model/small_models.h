// Small models of every kind, and sentences for them: what the tests of model/, search/ and train/ share.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "model/decoding_weights.h"
#include "model/transformer.h"
#include "model/weights_file.h"
#include "testing.h"

namespace dragoman::internal {

struct NamedConfig {
  std::string name;
  ModelConfig config;
};

// Whose attention knows distances.
inline std::vector<NamedConfig> small_configs_of_distances(const ModelConfig& pre) {
  ModelConfig t5 = pre;
  t5.norm_kind = NormKind::rms;
  t5.activation = Activation::swish;
  t5.gated = true;
  t5.tied = Tied::inputs;
  t5.source_vocabulary = t5.target_vocabulary = 29;
  t5.positions = Positions::t5;
  t5.position_buckets = 8;
  t5.max_distance = 12;
  t5.head_width = 7;
  t5.decoder_heads = 3;

  ModelConfig alibi = pre;
  alibi.norm = NormOrder::post;
  alibi.activation = Activation::gelu;
  alibi.heads = 3;
  alibi.positions = Positions::alibi;
  alibi.d_model = 21;

  ModelConfig rotary = pre;
  rotary.positions = Positions::rotary;
  rotary.activation = Activation::gelu;
  rotary.rotary_base = 500;
  rotary.head_width = 6;

  ModelConfig relative = pre;
  relative.relative_distance = 3;
  relative.positions = Positions::none;
  relative.activation = Activation::gelu;
  relative.decoder_heads = 5;
  relative.query_key_norm = true;
  return {{"t5", t5}, {"alibi", alibi}, {"rotary", rotary}, {"relative", relative}};
}

// Widths that fill no vector; each choice of [model] in one of them at least.
inline std::vector<NamedConfig> small_configs() {
  ModelConfig pre = {.encoder_layers = 1, .decoder_layers = 2, .d_model = 20, .heads = 2, .d_ff = 37};
  pre.source_vocabulary = 29;
  pre.target_vocabulary = 23;
  pre.activation_dropout = 0.2;

  ModelConfig post = pre;
  post.encoder_layers = 2;
  post.decoder_layers = 1;
  post.d_model = 18;
  post.heads = 3;
  post.norm = NormOrder::post;
  post.activation = Activation::gelu;
  post.tied = Tied::all;
  post.positions = Positions::tensor2tensor;
  post.source_vocabulary = post.target_vocabulary = 31;

  ModelConfig learned = pre;
  learned.d_model = 44;
  learned.heads = 4;
  learned.d_ff = 70;
  learned.activation = Activation::swish;
  learned.tied = Tied::output;
  learned.positions = Positions::learned;
  learned.max_positions = 100;

  ModelConfig marian = post;
  marian.decoder_layers = 2;
  marian.activation = Activation::gelu_sigmoid;
  marian.tied = Tied::output;
  marian.tied_bias = true;
  marian.zero_start = true;
  marian.decoder_self_attention = DecoderSelfAttention::ssru;
  marian.ssru_input_bias = false;
  marian.decoder_heads = 2;
  marian.positions = Positions::halves;
  marian.position_offset = 2;

  ModelConfig bart = pre;
  bart.positions = Positions::stored;
  bart.max_positions = 100;
  bart.embedding_scale = 1;
  bart.decoder_heads = 5;
  bart.decoder_d_ff = 24;
  bart.embedding_norm = true;
  bart.activation = Activation::gelu_tanh;

  ModelConfig gated = pre;
  gated.norm_kind = NormKind::rms;
  gated.activation = Activation::swish;
  gated.gated = true;
  gated.query_key_norm = true;
  std::vector<NamedConfig> all = {{"pre", pre},       {"post_tied_gelu", post}, {"learned_swish", learned},
                                  {"marian", marian}, {"bart", bart},           {"gated", gated}};
  std::ranges::move(small_configs_of_distances(pre), std::back_inserter(all));
  return all;
}

// Models without an encoder, apart from those above: many tests look at what an encoder does.
inline std::vector<NamedConfig> small_language_models() {
  ModelConfig gated = {
      .kind = ModelKind::language_model, .decoder_layers = 2, .d_model = 20, .heads = 2, .d_ff = 37};
  gated.norm_kind = NormKind::rms;
  gated.activation = Activation::swish;
  gated.gated = true;
  gated.tied = Tied::output;
  gated.source_vocabulary = gated.target_vocabulary = 29;

  ModelConfig recurrent = gated;
  recurrent.norm = NormOrder::post;
  recurrent.decoder_self_attention = DecoderSelfAttention::ssru;
  recurrent.tied = Tied::none;
  recurrent.positions = Positions::learned;
  recurrent.max_positions = 100;
  return {{"language", gated}, {"recurrent_language", recurrent}};
}

struct ModelCase {
  NamedConfig named;
  const Kernels* kernels;
  Precision precision = Precision::fp32;
};
inline void PrintTo(const ModelCase& c, std::ostream* out) {
  *out << c.named.name << " on " << c.kernels->name << " in " << name_of(c.precision);
}

// Every small model on every instruction set, for testing::ValuesIn.
inline std::vector<ModelCase> model_cases(const std::vector<NamedConfig>& configs = small_configs()) {
  std::vector<ModelCase> cases;
  for (const NamedConfig& config : configs) {
    for (const Kernels* kernels : every_table()) cases.push_back({config, kernels});
  }
  return cases;
}
// The same with weights of fewer bits: for what decoding does.
inline std::vector<ModelCase> cases_in_fewer_bits(const std::vector<NamedConfig>& configs = small_configs()) {
  std::vector<ModelCase> cases;
  for (const Precision precision : {Precision::bf16, Precision::int8}) {
    for (const ModelCase& c : model_cases(configs)) cases.push_back({c.named, c.kernels, precision});
  }
  return cases;
}
inline std::vector<ModelCase> decoding_cases(const std::vector<NamedConfig>& configs = small_configs()) {
  std::vector<ModelCase> cases = model_cases(configs);
  std::ranges::copy(cases_in_fewer_bits(configs), std::back_inserter(cases));
  return cases;
}
// Above the model, whose own tests see every kind of it, the GPU's kernels on the host's slow fibers run a model of
// each kind of decoding alone.
inline std::vector<ModelCase> few_on_fibers(std::vector<ModelCase> cases) {
  std::erase_if(cases, [](const ModelCase& c) {
    return std::string_view(c.kernels->name) == "cuda-on-host" && c.named.name != "pre" &&
           c.named.name != "marian" && c.named.name != "relative";
  });
  return cases;
}
inline std::string model_case_name(const testing::TestParamInfo<ModelCase>& test) {
  const std::string name = test.param.named.name + "_" + name_in_tests(*test.param.kernels);
  return test.param.precision == Precision::fp32 ? name : name + "_" + name_of(test.param.precision);
}

// A model of random weights with all that it runs on. Two of one seed have the same weights.
struct SmallModel {
  SmallModel(const ModelConfig& config, const Kernels& kernels, int threads, bool gradients = false,
             uint64_t seed = 1)
      : device(kernels, threads),
        model(config, device, gradients ? Buffers::weights_and_gradients : Buffers::weights) {
    model.parameters.initialise(seed);
    // Biases begin as zeros and gains as ones: a test would not see them left out.
    const Floats noise = random_floats(model.parameters.weights().size(), seed, -0.1, 0.1);
    for (const Parameter& parameter : model.parameters.list()) {
      const HostView<float> values = parameter.value.writable_values();
      for (size_t i = 0; i < values.size(); ++i)
        values[i] += noise[static_cast<size_t>(parameter.offset) + i];
    }
  }
  using Floats = std::vector<float>;

  Device device;
  Transformer model;
};

using Sentence = std::vector<int32_t>;

// Of lengths from 1 to `longest`, the first of one token and the second of the most.
inline std::vector<Sentence> random_sentences(size_t count, int64_t vocabulary, uint64_t longest,
                                              uint64_t key) {
  Random random(key);
  std::vector<Sentence> sentences(count);
  for (size_t i = 0; i < count; ++i) {
    sentences[i].resize(i == 0 ? 1 : i == 1 ? longest : 1 + random.below(longest));
    for (int32_t& id : sentences[i])
      id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary)));
  }
  return sentences;
}

inline PackedSide packed_side(const std::vector<Sentence>& sentences) {
  PackedSide packed;
  for (const Sentence& s : sentences) packed.add(s.data(), s.data() + s.size());
  return packed;
}

// Sentence i is the pair pairs[i] of the corpus.
inline Tokens pack(Device& device, const std::vector<Sentence>& sentences,
                   const std::vector<uint64_t>& pairs) {
  std::vector<int32_t> ids, lengths;
  for (const Sentence& sentence : sentences) {
    ids.insert(ids.end(), sentence.begin(), sentence.end());
    lengths.push_back(static_cast<int32_t>(sentence.size()));
  }
  return pack_tokens(device, ids, lengths, pairs);
}

inline std::vector<float> rows_of(const Tensor& tensor, Span span) {
  const HostView<const float> values = tensor.row_range(span.begin, span.length).values();
  return {values.begin(), values.end()};
}

}  // namespace dragoman::internal
