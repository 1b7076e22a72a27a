#include "ops/attention_cases.h"

#include <algorithm>

namespace dragoman::internal {
namespace {

using Kind = OpInput::Kind;

double attention_work(const Lengths& lengths, const AttentionCase& options) {
  double visible = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const double m = lengths[i], n = options.keys.empty() ? m : options.keys[i].length;
    visible += options.causal ? m * (n - m) + m * (m + 1) / 2 : m * n;
  }
  return 4 * visible * static_cast<double>(options.heads * options.width);
}

}  // namespace

OpCase attention_case(std::string name, const Lengths& lengths, const AttentionCase& options) {
  const int64_t d = options.heads * options.width;
  OpCase op = {.name = std::move(name), .lengths = lengths, .keys = options.keys};
  if (options.keys.empty()) {
    op.inputs = {{"qkv", total(lengths), 3 * d, Kind::activation, 1.5}};
  } else {
    int64_t rows = 0;
    for (const Span& span : options.keys) rows = std::max<int64_t>(rows, span.begin + span.length);
    op.inputs = {{"q", total(lengths), d, Kind::activation, 1.5},
                 {"kv", rows + 2, 2 * d, Kind::activation, 1.5}};
  }
  if (options.reach > 0)
    op.inputs.push_back({"bias", 2 * options.reach + 1, options.heads, Kind::parameter, 1.5});
  if (options.vector_reach > 0) {
    for (const char* vectors : {"key vectors", "value vectors"})
      op.inputs.push_back({vectors, 2 * options.vector_reach + 1, options.width, Kind::parameter, 1.5});
  }
  std::vector<std::string> names;
  for (const OpInput& input : op.inputs) names.emplace_back(input.name);
  op.run = [options, d, names](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    const auto input_named = [&](const char* wanted) {
      const auto found = std::ranges::find(names, wanted);
      return found != names.end() ? a.inputs[static_cast<size_t>(found - names.begin())] : Tensor();
    };
    const bool self = options.keys.empty();
    const Tensor q = self ? a.inputs[0].column_range(0, d) : a.inputs[0];
    const Tensor kv = self ? a.inputs[0].column_range(d, 2 * d) : a.inputs[1];
    return {attention(pass, q, kv.column_range(0, d), kv.column_range(d, d),
                      {.queries = &a.tokens.spans,
                       .keys = &a.keys,
                       .query_rows = &a.tokens.rows,
                       .heads = options.heads,
                       .causal = options.causal,
                       .dropout = options.dropout,
                       .distance_bias = input_named("bias"),
                       .bias_learns = true,
                       .distance_keys = input_named("key vectors"),
                       .distance_values = input_named("value vectors")})};
  };
  op.forward.operations = attention_work(lengths, options);
  op.backward.operations = 2.5 * op.forward.operations;  // the scores again, and four products
  return op;
}

namespace {

OpCase attention_weights_case(std::string name, const Lengths& lengths, const AttentionCase& options) {
  OpCase op = attention_case(std::move(name), lengths, options);
  for (OpInput& input : op.inputs) input.kind = Kind::constant;
  op.run = [options](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
    const int64_t d = options.heads * options.width;
    const AttentionOptions attention_options = {
        .queries = &a.tokens.spans, .keys = &a.keys, .heads = options.heads, .causal = options.causal};
    return {attention_weights(pass, a.inputs[0], a.inputs[1].column_range(0, d), attention_options)};
  };
  return op;
}

// --- guided alignment -------------------------------------------------------------------------------

// The second of two heads. Queries have no link, one, or two where there are as many keys.
struct CaseLinks {
  std::vector<int32_t> counts, keys;

  CaseLinks(const Lengths& lengths, const std::vector<Span>& spans) {
    for (size_t i = 0; i < lengths.size(); ++i) {
      for (int32_t t = 0; t < lengths[i]; ++t) {
        counts.push_back(std::min((t + 1) % 3, spans[i].length));
        for (int32_t n = 0; n < counts.back(); ++n) keys.push_back((2 * t + n) % spans[i].length);
      }
    }
  }
};

OpCase guided_case(std::string name, const Lengths& lengths, const AttentionCase& options) {
  OpCase op = attention_case(std::move(name), lengths, options);
  op.loss_columns = 1;
  op.run = [options, links = CaseLinks(lengths, options.keys)](Pass& pass,
                                                               const OpArguments& a) -> std::vector<Tensor> {
    const TokenLinks on_device(pass.device.pool, links.counts, links.keys);
    const Tensor q = a.inputs[0].column_range(options.width, options.width),
                 k = a.inputs[1].column_range(options.width, options.width);
    return {guided_attention(pass, q, k, {.queries = &a.tokens.spans, .keys = &a.keys, .links = &on_device})};
  };
  return op;
}

// --- positions in attention -------------------------------------------------------------------------

OpCase rotary_case(std::string name, const Lengths& lengths, int64_t heads, int64_t width) {
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"a", total(lengths), heads * width},
                     {"b", total(lengths), heads * width},
                     {"angles", std::ranges::max(lengths), width, Kind::constant}},
          .run = [](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            const Tensor x = multiply_elements(pass, a.inputs[0], a.inputs[1]);  // since it works in place
            rotate(pass, x, a.inputs[2], a.tokens.rows);
            return {x};
          }};
}

OpCase head_norm_case(std::string name, const Lengths& lengths, int64_t heads, int64_t width) {
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"a", total(lengths), (heads + 1) * width}, {"b", total(lengths), (heads + 1) * width}},
          .run = [heads, width](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            const Tensor x = multiply_elements(pass, a.inputs[0], a.inputs[1]);  // since it works in place
            normalise_heads(pass, x.column_range(0, heads * width), width, 1e-3F);
            return {x};
          }};
}

OpCase look_up_case(std::string name, const Lengths& lengths, int64_t table_rows, int64_t width) {
  return {.name = std::move(name),
          .lengths = lengths,
          .inputs = {{"table", table_rows, width, Kind::parameter}},
          .run = [](Pass& pass, const OpArguments& a) -> std::vector<Tensor> {
            return {look_up(pass, a.inputs[0], a.tokens.ids)};
          },
          .vocabulary = table_rows};
}

}  // namespace

std::vector<OpCase> small_attention_cases(const Lengths& some, const Lengths& many) {
  const std::vector<Span> other_lengths = {{0, 3}, {3, 11}, {14, 1}, {15, 6}};
  const std::vector<Span> gaps = {{20, 7}, {0, 1}, {40, 12}, {5, 9}};  // as a cache has them, in any order
  return {
      attention_case("attention", some, {.heads = 2, .width = 5}),
      attention_case("attention_causal", some, {.heads = 3, .width = 7, .causal = true}),
      attention_case("attention_causal_dropout", many,
                     {.heads = 2, .width = 9, .causal = true, .dropout = 0.2F}),
      attention_case("attention_cross", some, {.heads = 2, .width = 10, .keys = other_lengths}),
      attention_case("attention_cross_dropout", some,
                     {.heads = 1, .width = 3, .dropout = 0.4F, .keys = other_lengths}),
      guided_case("guided_attention", some, {.heads = 2, .width = 10, .keys = other_lengths}),
      guided_case("guided_attention_wide", {40, 1, 7, 35},
                  {.heads = 2, .width = 37, .keys = {{0, 3}, {3, 37}, {40, 1}, {41, 64}}}),
      attention_case("attention_gaps", {2, 1, 4, 9}, {.heads = 2, .width = 6, .causal = true, .keys = gaps}),
      attention_case("attention_long", {101, 1, 85},
                     {.heads = 2, .width = 4, .causal = true, .dropout = 0.1F}),
      attention_case("attention_many_keys", {2, 1},
                     {.heads = 1, .width = 5, .dropout = 0.1F, .keys = {{0, 600}, {600, 129}}}),
      attention_weights_case("attention_weights", {101, 1, 85},
                             {.heads = 2, .width = 6, .keys = {{20, 107}, {0, 1}, {140, 86}}}),
      attention_weights_case("attention_weights_causal", {2, 1, 4, 9},
                             {.heads = 3, .width = 5, .causal = true, .keys = gaps}),
      attention_case("attention_bias", some, {.heads = 2, .width = 5, .reach = 3}),
      attention_case("attention_bias_causal", {101, 1, 85},
                     {.heads = 3, .width = 7, .causal = true, .dropout = 0.1F, .reach = 20}),
      attention_case("attention_bias_far", some, {.heads = 2, .width = 6, .causal = true, .reach = 500}),
      attention_case("attention_vectors", some, {.heads = 2, .width = 5, .vector_reach = 3}),
      attention_case(
          "attention_vectors_and_bias", {101, 1, 85},
          {.heads = 3, .width = 7, .causal = true, .dropout = 0.1F, .reach = 5, .vector_reach = 20}),
      rotary_case("rotary", some, 3, 10),
      rotary_case("rotary_wide", many, 2, 70),
      head_norm_case("head_norm", some, 3, 10),
      head_norm_case("head_norm_wide", many, 2, 70),
      look_up_case("look_up", many, 7, 5),
  };
}

}  // namespace dragoman::internal
