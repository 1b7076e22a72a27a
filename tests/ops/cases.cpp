#include "ops/cases.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ops/attention_cases.h"

namespace dragoman::internal {
namespace {

using Kind = OpInput::Kind;

constexpr double float_size = sizeof(float);

double product_work(int64_t rows, int64_t in, int64_t out) {
  return 2.0 * static_cast<double>(rows * in * out);
}

double bytes_of(int64_t rows, int64_t columns, double times) {
  return times * float_size * static_cast<double>(rows * columns);
}

// --- embeddings -------------------------------------------------------------------------------------

struct EmbedCase {
  int64_t vocabulary, width;
  bool learned = false;
  float dropout = 0;
  bool zero_start = false;
};

OpCase embed_case(std::string name, const Lengths& lengths, const EmbedCase& options) {
  int32_t longest = 0;
  for (const int32_t length : lengths) longest = std::max(longest, length);
  return {
      .name = std::move(name),
      .lengths = lengths,
      .inputs = {{"table", options.vocabulary, options.width, Kind::parameter},
                 {"positions", longest, options.width, options.learned ? Kind::parameter : Kind::constant}},
      .run = [options](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
        const EmbedOptions embed_options = {
            .scale = 3.5F, .dropout = options.dropout, .zero_start = options.zero_start};
        return {embed(pass, a.tokens, a.inputs[0], a.inputs[1], embed_options)};
      },
      .vocabulary = options.vocabulary,
      .forward = {.bytes = bytes_of(total(lengths), options.width, 3)},
      .backward = {.bytes = bytes_of(total(lengths), options.width, 3)}};
}

// --- linear layers ----------------------------------------------------------------------------------

struct LinearCase {
  int64_t in, out;
  Activation activation = Activation::none;
  float dropout = 0;
  bool bias = true;
};

OpCase linear_case(std::string name, const Lengths& lengths, const LinearCase& options) {
  const bool kink = options.activation == Activation::relu;
  const double size = (kink ? 0.5 : 2) / std::sqrt(static_cast<double>(options.in));
  OpCase op = {.name = std::move(name),
               .lengths = lengths,
               .inputs = {{"x", total(lengths), options.in},
                          {"weight", options.in, options.out, Kind::parameter, size}}};
  if (options.bias) {
    op.inputs.push_back(
        {"bias", 1, options.out, Kind::parameter, 1, kink ? OpInput::Values::aside : OpInput::Values::even});
  }
  op.run = [options](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    const LinearOptions linear_options = {
        .activation = options.activation, .dropout = options.dropout, .rows = &a.tokens.rows};
    return {linear(pass, a.inputs[0], a.inputs[1], options.bias ? a.inputs[2] : Tensor(), linear_options)};
  };
  op.forward.operations = product_work(total(lengths), options.in, options.out);
  op.backward.operations = 2 * op.forward.operations;
  return op;
}

// One x for two layers, as the encoder's output for every layer of the decoder: its gradients add up.
OpCase linear_twice_case(const Lengths& lengths, int64_t in, int64_t out) {
  OpCase op = linear_case("linear_twice", lengths, {.in = in, .out = out});
  op.inputs.push_back({"other_weight", in, out + 3, Kind::parameter});
  op.run = [](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    return {linear(pass, a.inputs[0], a.inputs[1], a.inputs[2]),
            linear(pass, a.inputs[0], a.inputs[3], Tensor())};
  };
  return op;
}

// A gated feed-forward layer: its x and both factors' weights.
OpCase gated_case(std::string name, const Lengths& lengths, const LinearCase& options) {
  OpCase op = linear_case(std::move(name), lengths, options);
  op.inputs.push_back({"value", options.in, options.out, Kind::parameter});
  op.run = [gate = op.run](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    return {multiply_elements(pass, gate(pass, a)[0], linear(pass, a.inputs[0], a.inputs[3], Tensor()))};
  };
  return op;
}

// --- dropout ----------------------------------------------------------------------------------------

// `used`: something else reads x, too, and its gradient comes first.
OpCase dropout_case(std::string name, const Lengths& lengths, int64_t width, bool used) {
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"x", total(lengths), width}, {"weight", width, 3, Kind::parameter}},
          .run = [used](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            const Tensor dropped = dropout(pass, a.inputs[0], 0.3F, a.tokens.rows);
            return {dropped, linear(pass, used ? a.inputs[0] : dropped, a.inputs[1], Tensor())};
          }};
}

// --- norms ------------------------------------------------------------------------------------------

constexpr float epsilon = 1e-5F;

// RMSNorm, which is the norm without a bias.
OpCase rms(OpCase op) {
  op.inputs.pop_back();
  return op;
}

Tensor bias_among(const std::vector<Tensor>& inputs, size_t place) {
  return place < inputs.size() ? inputs[place] : Tensor();
}

OpCase norm_case(std::string name, const Lengths& lengths, int64_t width) {
  const int64_t rows = total(lengths);
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"x", rows, width},
                     {"gain", 1, width, Kind::parameter},
                     {"bias", 1, width, Kind::parameter}},
          .run = [](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            return {norm(pass, a.inputs[0], a.inputs[1], bias_among(a.inputs, 2), epsilon)};
          },
          .forward = {.bytes = bytes_of(rows, width, 2)},
          .backward = {.bytes = bytes_of(rows, width, 3)}};
}

// How the sum goes on: to nobody but the norm (post-norm), to others too (pre-norm), or it is the residual that
// others read as well, before or after.
enum class SumUse { normed, both, residual_before, residual_after };

OpCase add_norm_case(std::string name, const Lengths& lengths, int64_t width, float dropout, SumUse use) {
  const int64_t rows = total(lengths);
  OpCase op = {.name = std::move(name),
               .lengths = lengths,
               .inputs = {{"residual", rows, width},
                          {"branch", rows, width},
                          {"gain", 1, width, Kind::parameter},
                          {"bias", 1, width, Kind::parameter}}};
  op.run = [dropout, use](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    const Tensor bias = bias_among(a.inputs, 3);
    const auto other = [&] { return norm(pass, a.inputs[0], a.inputs[2], bias, epsilon); };
    const Tensor before = use == SumUse::residual_before ? other() : Tensor();
    const auto [sum, normed] =
        add_dropout_norm(pass, a.inputs[0], a.inputs[1], dropout, a.tokens.rows, a.inputs[2], bias, epsilon);
    switch (use) {
      case SumUse::normed:
        return {normed};
      case SumUse::both:
        return {sum, normed};
      case SumUse::residual_before:
        return {sum, normed, before};
      case SumUse::residual_after:
        return {sum, normed, other()};
    }
    return {};
  };
  op.forward.bytes = bytes_of(rows, width, 4);
  op.backward.bytes = bytes_of(rows, width, 5);
  return op;
}

// --- recurrent unit ---------------------------------------------------------------------------------

// The states are all positive or all negative: the kink is kept away from.
OpCase ssru_case(std::string name, const Lengths& lengths, int64_t width) {
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"gate_and_input", total(lengths), 2 * width, Kind::activation, 0.5,
                      OpInput::Values::aside}},
          .run = [](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            return {ssru(pass, a.inputs[0], {.spans = &a.tokens.spans}).output};
          }};
}

// --- cross-entropy ----------------------------------------------------------------------------------

struct CrossEntropyCase {
  int64_t width, vocabulary;
  Smoothing smoothing = {0.1F, SmoothingOver::all};
  bool bias = true;
  int64_t logits_per_chunk = int64_t{16} << 20;
};

// Its gradients are computed on the way forward.
OpCase cross_entropy_case(std::string name, const Lengths& lengths, const CrossEntropyCase& options) {
  OpCase op = {.name = std::move(name),
               .lengths = lengths,
               .inputs = {{"hidden", total(lengths), options.width},
                          {"weight", options.vocabulary, options.width, Kind::parameter}},
               .vocabulary = options.vocabulary,
               .loss_columns = 2};
  if (options.bias) op.inputs.push_back({"bias", 1, options.vocabulary, Kind::parameter});
  op.run = [options](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    return {cross_entropy(pass, a.inputs[0], a.inputs[1], options.bias ? a.inputs[2] : Tensor(), a.targets,
                          options.smoothing, options.logits_per_chunk)};
  };
  op.forward.operations = 3 * product_work(total(lengths), options.width, options.vocabulary);
  return op;
}

std::vector<OpCase> small_linear_cases(const Lengths& some, const Lengths& many) {
  return {
      linear_case("linear", some, {.in = 13, .out = 35}),
      linear_case("linear_no_bias", some, {.in = 1, .out = 3, .bias = false}),
      linear_case("linear_dropout", some, {.in = 13, .out = 70, .dropout = 0.3F}),
      linear_case("linear_relu", some, {.in = 17, .out = 37, .activation = Activation::relu}),
      linear_case("linear_relu_dropout", many,
                  {.in = 17, .out = 37, .activation = Activation::relu, .dropout = 0.25F}),
      linear_case("linear_gelu", some, {.in = 17, .out = 37, .activation = Activation::gelu}),
      linear_case("linear_gelu_dropout", some,
                  {.in = 17, .out = 66, .activation = Activation::gelu, .dropout = 0.25F, .bias = false}),
      linear_case("linear_gelu_tanh", some, {.in = 17, .out = 37, .activation = Activation::gelu_tanh}),
      linear_case("linear_gelu_sigmoid", some, {.in = 17, .out = 37, .activation = Activation::gelu_sigmoid}),
      linear_case("linear_swish", some, {.in = 17, .out = 37, .activation = Activation::swish}),
      linear_case("linear_swish_dropout", many,
                  {.in = 5, .out = 7, .activation = Activation::swish, .dropout = 0.1F}),
      linear_case("linear_deep", {3, 1, 2}, {.in = 1037, .out = 9}),
      linear_twice_case(some, 11, 6),
      gated_case("gated_swish", some, {.in = 17, .out = 37, .activation = Activation::swish}),
      gated_case("gated_gelu_dropout", many,
                 {.in = 5, .out = 7, .activation = Activation::gelu, .dropout = 0.1F}),
      gated_case("gated_relu", some, {.in = 17, .out = 21, .activation = Activation::relu}),
  };
}

}  // namespace

std::vector<OpCase> small_op_cases() {
  const Lengths some = {5, 1, 9, 2}, many = {70, 1, 64, 33}, sorted = {300, 1, 290, 64};
  const Smoothing none = {0, SmoothingOver::all}, others = {0.2F, SmoothingOver::others};
  std::vector<OpCase> cases = {
      embed_case("embed", some, {.vocabulary = 7, .width = 19}),
      embed_case("embed_dropout", some, {.vocabulary = 7, .width = 67, .dropout = 0.3F}),
      embed_case("embed_learned_positions", some,
                 {.vocabulary = 7, .width = 21, .learned = true, .dropout = 0.2F}),
      embed_case("embed_zero_start", some,
                 {.vocabulary = 7, .width = 21, .learned = true, .dropout = 0.2F, .zero_start = true}),
      // More words than a digit has, and rows than a warp sorts; and words in more rows than three windows have.
      embed_case("embed_many_words", sorted, {.vocabulary = 300, .width = 5}),
      embed_case("embed_few_words", sorted, {.vocabulary = 4, .width = 5, .learned = true}),
      dropout_case("dropout", many, 67, false),
      dropout_case("dropout_of_what_others_read", some, 13, true),
      norm_case("norm", some, 19),
      norm_case("norm_many_rows", many, 33),
      add_norm_case("add_norm", some, 23, 0, SumUse::both),
      add_norm_case("add_dropout_norm", many, 67, 0.3F, SumUse::both),
      add_norm_case("add_dropout_norm_post", some, 18, 0.3F, SumUse::normed),
      add_norm_case("add_dropout_norm_residual_before", some, 13, 0.2F, SumUse::residual_before),
      add_norm_case("add_dropout_norm_residual_after", some, 13, 0.2F, SumUse::residual_after),
      rms(norm_case("rms_norm", some, 19)),
      rms(norm_case("rms_norm_many_rows", many, 33)),
      rms(add_norm_case("add_dropout_rms_norm", many, 67, 0.3F, SumUse::both)),
      rms(add_norm_case("add_dropout_rms_norm_post", some, 18, 0.3F, SumUse::normed)),
      ssru_case("ssru", some, 20),
      ssru_case("ssru_many_rows", many, 301),
      cross_entropy_case("cross_entropy", some, {.width = 13, .vocabulary = 37}),
      cross_entropy_case("cross_entropy_no_bias", some, {.width = 20, .vocabulary = 50, .bias = false}),
      cross_entropy_case("cross_entropy_not_smoothed", some,
                         {.width = 13, .vocabulary = 11, .smoothing = none}),
      cross_entropy_case("cross_entropy_smoothed_over_others", some,
                         {.width = 13, .vocabulary = 21, .smoothing = others}),
      cross_entropy_case("cross_entropy_chunks", many,
                         {.width = 9, .vocabulary = 29, .logits_per_chunk = 64 * 29}),
  };
  std::ranges::move(small_linear_cases(some, many), std::back_inserter(cases));
  std::ranges::move(small_attention_cases(some, many), std::back_inserter(cases));
  return cases;
}

std::vector<OpCase> large_op_cases(const OpSizes& s) {
  const int64_t d = s.d_model, width = s.d_model / s.heads;
  std::vector<Span> sources;  // about as long as the targets, and none as long as its own
  int32_t begin = 0;
  for (size_t i = 0; i < s.lengths.size(); ++i) {
    sources.push_back({begin, s.lengths[s.lengths.size() - 1 - i]});
    begin += sources.back().length;
  }
  const auto used = [](int64_t times, OpCase op) {
    op.uses = times;
    return op;
  };
  const int64_t l = s.layers;
  return {
      used(2, embed_case("embed", s.lengths, {.vocabulary = s.vocabulary, .width = d, .dropout = 0.1F})),
      used(2 * l, linear_case("linear qkv", s.lengths, {.in = d, .out = 3 * d})),
      used(l, linear_case("linear key_value", s.lengths, {.in = d, .out = 2 * d})),
      used(4 * l, linear_case("linear query, output", s.lengths, {.in = d, .out = d})),
      used(2 * l, linear_case("linear inner, relu", s.lengths,
                              {.in = d, .out = s.d_ff, .activation = Activation::relu, .dropout = 0.1F})),
      used(0, linear_case("linear inner, gelu", s.lengths,
                          {.in = d, .out = s.d_ff, .activation = Activation::gelu, .dropout = 0.1F})),
      used(2 * l, linear_case("linear outer", s.lengths, {.in = s.d_ff, .out = d})),
      used(2, norm_case("norm", s.lengths, d)),
      used(5 * l, add_norm_case("add + dropout + norm", s.lengths, d, 0.1F, SumUse::both)),
      used(l,
           attention_case("attention self", s.lengths, {.heads = s.heads, .width = width, .dropout = 0.1F})),
      used(l, attention_case("attention causal", s.lengths,
                             {.heads = s.heads, .width = width, .causal = true, .dropout = 0.1F})),
      used(l, attention_case("attention cross", s.lengths,
                             {.heads = s.heads, .width = width, .dropout = 0.1F, .keys = sources})),
      used(1, cross_entropy_case("cross-entropy, tied", s.lengths,
                                 {.width = d, .vocabulary = s.vocabulary, .bias = false})),
  };
}

}  // namespace dragoman::internal
