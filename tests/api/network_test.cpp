// The pieces of a model on numbers of the caller: what they compute together, and what is said where they do not fit.
#include "dragoman/network.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "dragoman/models.h"
#include "dragoman/translator.h"
#include "search/model_folder.h"
#include "temporary_folder.h"

namespace dragoman {
namespace {

const NetworkSettings on_cpu = {.device = "cpu", .threads = 1};

Network small_network(Options options = {}) {
  Options all = {{"model.encoder_layers", 1}, {"model.decoder_layers", 2}, {"model.d_model", 16},
                 {"model.heads", 2},          {"model.d_ff", 24},          {"model.dropout", 0.3}};
  all.insert(all.end(), options.begin(), options.end());
  return Network(NewNetwork{.options = all, .source_vocabulary = 11, .target_vocabulary = 13}, on_cpu);
}

const Ids source = {1, 7, 3, 9, 2}, target = {1, 4, 12, 5, 2};

const Matrix& value_of(const std::vector<NamedMatrix>& all, const std::string& name) {
  return std::ranges::find(all, name, &NamedMatrix::name)->values;
}

// −log p of each token of the target but the first.
double loss_of_logits(const Matrix& logits, const Ids& ids) {
  double sum = 0;
  for (size_t row = 0; row < logits.rows; ++row) {
    const float* const scores = logits.values.data() + row * logits.columns;
    double normaliser = 0;
    for (size_t i = 0; i < logits.columns; ++i) normaliser += std::exp(double{scores[i]});
    sum += std::log(normaliser) - double{scores[ids[row + 1]]};
  }
  return sum / static_cast<double>(logits.rows);
}

// With pre-norm, before each sublayer: gains are 1 and biases 0 in a new network.
Matrix normalised(Matrix x) {
  for (size_t row = 0; row < x.rows; ++row) {
    float* const values = x.values.data() + row * x.columns;
    const auto n = static_cast<double>(x.columns);
    double mean = 0, variance = 1e-6;
    for (size_t i = 0; i < x.columns; ++i) mean += double{values[i]} / n;
    for (size_t i = 0; i < x.columns; ++i) variance += std::pow(double{values[i]} - mean, 2) / n;
    for (size_t i = 0; i < x.columns; ++i)
      values[i] = static_cast<float>((double{values[i]} - mean) / std::sqrt(variance));
  }
  return x;
}

Matrix operator+(Matrix a, const Matrix& b) {
  std::ranges::transform(a.values, b.values, a.values.begin(), std::plus());
  return a;
}

void expect_near(const Matrix& a, const Matrix& b) {
  ASSERT_TRUE(a.rows == b.rows && a.columns == b.columns);
  for (size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 2e-5F) << i;
}

TEST(Network, ItsStacksAreTheirPieces) {
  Network network = small_network();
  Matrix x = network.embed(Stack::encoder, source);
  x = x + network.self_attention(Stack::encoder, 0, normalised(x));
  x = x + network.feed_forward(Stack::encoder, 0, normalised(x));
  const Matrix memory = network.encode(source);
  expect_near(normalised(x), memory);

  Matrix y = network.embed(Stack::decoder, target);
  for (const int64_t layer : {0, 1}) {
    y = y + network.self_attention(Stack::decoder, layer, normalised(y));
    y = y + network.cross_attention(layer, normalised(y), memory);
    y = y + network.feed_forward(Stack::decoder, layer, normalised(y));
  }
  expect_near(normalised(y), network.decode(target, memory));
}

TEST(Network, PositionsAreWhatEmbeddingsAreAddedTo) {
  Network network = small_network();
  const std::vector<NamedMatrix> weights = network.parameters();
  const Matrix& table = value_of(weights, "source_embedding.weight");
  const Matrix positions = network.positions(Stack::encoder, 5), sum = network.embed(Stack::encoder, source);
  EXPECT_EQ(positions.rows, 5U);
  EXPECT_EQ(network.positions(Stack::decoder, 0).rows, 0U);
  for (size_t i = 0; i < sum.values.size(); ++i) {
    const size_t row = i / 16, column = i % 16;
    EXPECT_NEAR(sum.values[i],
                4 * table.values[static_cast<size_t>(source[row]) * 16 + column] + positions.values[i],
                1e-6F);
  }
  EXPECT_NE(message_of([] {
              small_network({{"model.positions", "rotary"}}).positions(Stack::encoder, 5);
            }).find("adds no positions"),
            std::string::npos);
}

TEST(Network, TheLossIsThatOfItsLogitsInTheMeanOfAllTokens) {
  Network network = small_network();
  const Ids other = {1, 6, 2};
  const auto alone = [&](const Ids& ids) {
    const Ids before(ids.begin(), ids.end() - 1);
    return loss_of_logits(network.logits(network.decode(before, network.encode(source))), ids);
  };
  EXPECT_NEAR(network.loss({{source, target}}), alone(target), 1e-5);
  EXPECT_NEAR(network.loss({{source, target}, {source, other}}), (4 * alone(target) + 2 * alone(other)) / 6,
              1e-5);
  EXPECT_GT(std::abs(network.loss({{source, target}}, 0.3) - network.loss({{source, target}})), 1e-3);
}

TEST(Network, GradientsAreWhatTheLossDoesWhereWeightsMove) {
  Network network = small_network(
      {{"model.activation", "gelu"}, {"model.positions", "stored"}, {"model.max_positions", 10}});
  const std::vector<IdPair> pairs = {{source, target}, {{1, 2}, {1, 3, 2}}};
  const std::vector<NamedMatrix> weights = network.parameters();
  const Gradients gradients = network.gradients(pairs, 0.1);
  EXPECT_NEAR(gradients.loss, network.loss(pairs, 0.1), 1e-6);
  EXPECT_EQ(gradients.values.size() + 2, weights.size());  // positions do not learn
  const Gradients again = network.gradients(pairs, 0.1);   // not added to the first
  EXPECT_EQ(again.values.back().values.values, gradients.values.back().values.values);
  for (const NamedMatrix& entry : gradients.values) {
    const auto& [name, gradient] = entry;
    const auto steepest =
        std::ranges::max_element(gradient.values, {}, [](float value) { return std::abs(value); });
    const auto at = static_cast<size_t>(steepest - gradient.values.begin());
    NamedMatrix moved = {name, value_of(weights, name)};
    const float before = moved.values.values[at];
    const auto loss_at = [&](float value) {
      moved.values.values[at] = value;
      network.set_parameters({moved});
      return network.loss(pairs, 0.1);
    };
    const double quotient = (loss_at(before + 0.004F) - loss_at(before - 0.004F)) / 0.008;
    EXPECT_NEAR(quotient, *steepest, 2e-4 + 0.01 * std::abs(*steepest)) << name;
    loss_at(before);
  }
}

TEST(Network, ALanguageModelIsADecoder) {
  Network network = small_network({{"model.kind", "language_model"}});
  const Ids read(target.begin(), target.end() - 1);
  EXPECT_NEAR(network.loss({{{}, target}}), loss_of_logits(network.logits(network.decode(read)), target),
              1e-5);
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { network.encode(source); }, [&] { network.source_ids("a text"); },
           [&] { network.positions(Stack::encoder, 2); },
           [&] {
             network.cross_attention(0, {1, 16, std::vector<float>(16)}, {});
           }}) {
    EXPECT_NE(message_of(call).find("no encoder"), std::string::npos) << message_of(call);
  }
  EXPECT_NE(message_of([&] { network.loss({{source, target}}); }).find("reads no source"), std::string::npos);
}

TEST(Network, TheLossOfAPairIsItsScore) {
  const internal::ModelFolder folder("network");
  Network network(folder.path, on_cpu);
  Translator translator(folder.path, {.device = "cpu"});
  for (const char* text : {"A dog barks.", ""}) {
    const IdPair pair = {network.source_ids("The cat sleeps."), network.target_ids(text)};
    const double total = -network.loss({pair}) * static_cast<double>(pair.target.size() - 1);
    EXPECT_NEAR(translator.score(std::vector<TextPair>{{"The cat sleeps.", text}}).front().total, total,
                1e-4);
    EXPECT_EQ(network.target_text(pair.target), text);
  }
}

TEST(Network, WhatIsSavedIsReadAndTranslates) {
  const internal::ModelFolder folder("network");
  const internal::TemporaryFolder out;
  Network network(folder.path, on_cpu);
  std::vector<NamedMatrix> weights = network.parameters();
  weights[0].values.values[3] += 1;
  network.set_parameters({weights[0]});
  network.save(out.path("changed"));
  EXPECT_EQ(Network(out.path("changed"), on_cpu).loss({{source, target}}), network.loss({{source, target}}));
  EXPECT_EQ(Translator(out.path("changed"), {.device = "cpu"}).translate("The cat").hypotheses.size(), 1U);
  quantize(out.path("changed"), Precision::int8, out.path("int8"));
  EXPECT_NE(message_of([&] { Network(out.path("int8"), on_cpu); }).find("low-precision"), std::string::npos);
  small_network().save(out.path("new"));
  Network back(out.path("new"), on_cpu);
  EXPECT_EQ(back.config(), small_network().config());
  EXPECT_NE(back.config().find("\"dropout\":0.3"), std::string::npos);
  EXPECT_EQ(back.encode(source).values, small_network().encode(source).values);
  EXPECT_NE(message_of([&] { network.save(folder.path); }).find("already holds a model"), std::string::npos);
}

TEST(Network, MistakesAreSaid) {
  Network network = small_network();
  const Matrix memory = network.encode(source), narrow = {1, 8, std::vector<float>(8)};
  const std::pair<std::function<void()>, const char*> mistakes[] = {
      {[&] {
         network.encode({1, 11});
       },
       "the source has the id 11, but its vocabulary has ids from 0 to 10"},
      {[&] { network.encode({}); }, "the source is empty"},
      {[&] { network.decode({-1}, memory); }, "the target has the id -1"},
      {[&] { network.decode({1}); }, "the memory must have a row of 16 numbers"},
      {[&] { network.decode({1}, narrow); }, "for each token, but is 1 × 8"},
      {[&] { network.logits({}); }, "the decoder's output must have"},
      {[&] { network.feed_forward(Stack::encoder, 1, memory); }, "no layer 1: its only one is layer 0"},
      {[&] { network.self_attention(Stack::decoder, 2, memory); }, "its last one is layer 1, counted from 0"},
      {[&] { network.cross_attention(-1, memory, memory); }, "no layer -1"},
      {[&] { network.positions(Stack::encoder, -1); }, "no -1 positions"},
      {[&] { network.loss({}); }, "at least one pair"},
      {[&] {
         network.loss({{source, {1}}});
       },
       "at least two ids"},
      {[&] {
         network.loss({{source, {1, 13}}});
       },
       "the target has the id 13"},
      {[&] {
         network.gradients({{source, target}}, 1);
       },
       "label smoothing is 1"},
      {[&] {
         network.set_parameters({{"encoder.norm.gian", {}}});
       },
       "did you mean encoder.norm.gain?"},
      {[&] {
         network.set_parameters({{"encoder.norm.gain", narrow}});
       },
       "is 1 × 16, and cannot be set to 1 × 8"},
      {[&] {
         small_network({{"model.heads", 3}});
       },
       "does not divide model.d_model"},
      {[&] {
         small_network({{"model.head", 2}});
       },
       "did you mean model.heads?"},
      {[&] { Network(NewNetwork{.source_vocabulary = 5}, on_cpu); }, "at least 1"},
      {[&] { Network(NewNetwork{.source_vocabulary = 5, .target_vocabulary = 5}, {.threads = -1}); },
       "-1 threads"},
      {[&] {
         small_network({{"model.heads", 1'000'000}, {"model.head_width", 1'000'000}});
       },
       "together at most"},
      {[&] { network.logits({.rows = size_t{1} << 60, .columns = 16, .values = {}}); },
       "1152921504606846976"},
      {[&] { Network("no such folder", on_cpu); }, "no such folder"},
  };
  for (const auto& [mistake, sentence] : mistakes)
    EXPECT_NE(message_of(mistake).find(sentence), std::string::npos) << message_of(mistake);
}

TEST(Network, ParametersAreSetAllOrNone) {
  Network network = small_network();
  const std::vector<NamedMatrix> before = network.parameters();
  message_of([&] {
    network.set_parameters({{"encoder.norm.gain", {1, 16, std::vector<float>(16)}}, {"nothing", {}}});
  });
  EXPECT_EQ(value_of(network.parameters(), "encoder.norm.gain").values,
            value_of(before, "encoder.norm.gain").values);
}

}  // namespace
}  // namespace dragoman
