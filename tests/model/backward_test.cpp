// The way back through a whole model: what it announces, what it holds, and that it is the derivative.
#include <cmath>
#include <map>

#include "model/small_models.h"

namespace dragoman::internal {
namespace {

class Backward : public testing::TestWithParam<ModelCase> {
 protected:
  Backward() : small_(GetParam().named.config, *GetParam().kernels, 2, /*gradients=*/true) {}

  const ModelConfig& config() const { return small_.model.config; }

  // The sum of the smoothed losses; the tape is left to whoever asked.
  double forward(Tape& tape) {
    Pass pass{.device = small_.device, .tape = &tape, .seed = 3, .update = 1};
    const Tensor losses = loss(pass, small_.model, source_, target_, target_.ids, {0.1F, SmoothingOver::all});
    const HostView<const float> values = losses.values();
    double sum = 0;
    for (size_t i = 0; i < values.size(); i += 2) sum += double{values[i]};
    return sum;
  }

  SmallModel small_;
  Tokens source_ = pack(small_.device, random_sentences(4, config().source_vocabulary, 9, 1), {0, 1, 2, 3});
  Tokens target_ = pack(small_.device, random_sentences(4, config().target_vocabulary, 8, 2), {0, 1, 2, 3});
};

// Each parameter once, when its gradient is what it will be at the end: a reduction may start at that moment.
TEST_P(Backward, AnnouncesEachGradientOnceAndComplete) {
  struct Announced {
    DeviceMemory& memory;
    std::map<int, std::vector<std::vector<float>>> gradients = {};
  } announced = {small_.device.memory};
  Tape tape;
  tape.on_gradient_ready(
      [](void* argument, const Storage& parameter) {
        auto& [memory, gradients] = *static_cast<Announced*>(argument);
        const std::span<const float> ready(parameter.gradient, static_cast<size_t>(parameter.size));
        gradients[parameter.index].push_back(downloaded(memory, ready));
      },
      &announced);
  forward(tape);
  tape.backward();
  size_t trained = 0;
  for (const Parameter& parameter : small_.model.parameters.list()) {
    if (parameter.constant) continue;
    ++trained;
    const auto& gradients = announced.gradients[parameter.value.storage().index];
    ASSERT_EQ(gradients.size(), 1U) << parameter.name;
    const HostView<const float> at_the_end(
        small_.device.memory, {parameter.value.gradient().data, static_cast<size_t>(parameter.size())});
    EXPECT_TRUE(same_bits(gradients[0], at_the_end.span())) << parameter.name;
  }
  EXPECT_EQ(announced.gradients.size(), trained);
}

TEST_P(Backward, GivesItsMemoryBack) {
  Tape tape;
  forward(tape);
  tape.backward();  // the tables of positions are there now, and stay
  const size_t before = small_.device.pool.in_use();
  forward(tape);
  EXPECT_GT(small_.device.pool.in_use(), before);
  tape.backward();
  EXPECT_EQ(small_.device.pool.in_use(), before);
  forward(tape);
  tape.clear();
  EXPECT_EQ(small_.device.pool.in_use(), before);
}

// What a layer more holds between forward and backward, by its formula: the sums that are normed, what its products and
// its attentions read, and nothing else.
TEST_P(Backward, ALayerHoldsWhatItsBackwardReads) {
  const auto held = [&](int64_t encoder_layers, int64_t decoder_layers) {
    ModelConfig deeper = config();
    deeper.encoder_layers = encoder_layers;
    deeper.decoder_layers = decoder_layers;
    SmallModel small(deeper, *GetParam().kernels, 1, /*gradients=*/true);
    const Tokens source =
                     pack(small.device, random_sentences(4, deeper.source_vocabulary, 9, 1), {0, 1, 2, 3}),
                 target =
                     pack(small.device, random_sentences(4, deeper.target_vocabulary, 8, 2), {0, 1, 2, 3});
    const size_t before = small.device.pool.in_use();
    Tape tape;
    Pass pass{.device = small.device, .tape = &tape};
    loss(pass, small.model, source, target, target.ids, {});
    return small.device.pool.in_use() - before;
  };
  const auto floats = [](int64_t rows, int64_t columns) {  // in whole lines of 64 bytes
    return static_cast<size_t>((rows * columns + 15) / 16 * 64);
  };
  const int64_t d = config().d_model, heads = config().heads, n = source_.count(), m = target_.count();
  const int64_t target_heads = decoder_heads(config());
  // And its mean and deviation.
  const auto sum = [&](int64_t rows) { return floats(rows, d) + floats(rows, 2); };
  // By which queries or keys were multiplied.
  const auto factors = [&](int64_t rows, int64_t of_heads) {
    return config().query_key_norm ? floats(rows, of_heads) : 0;
  };
  const auto self_attention = [&](int64_t rows, int64_t of_heads) {
    const int64_t width = attention_width(config(), of_heads);
    return floats(rows, 3 * width) + floats(rows, width) + floats(rows, of_heads) +
           factors(rows, 2 * of_heads);
  };
  const int64_t width = attention_width(config(), target_heads);
  const size_t cross_attention = 2 * floats(m, width) + floats(n, 2 * width) + floats(m, target_heads) +
                                 factors(m, target_heads) + factors(n, target_heads);
  const auto feed_forward = [&](int64_t rows, int64_t d_ff) {
    const size_t activated = config().activation == Activation::relu ? 1 : 2;  // and its input
    return floats(rows, d_ff) * (activated + (config().gated ? 2 : 0));  // the other factor, the product
  };
  const size_t in_encoder = 2 * sum(n) + self_attention(n, heads) + feed_forward(n, config().d_ff);
  EXPECT_EQ(held(3, 1) - held(2, 1), has_encoder(config()) ? in_encoder : 0);
  const size_t of_target =
      has_ssru(config()) ? floats(m, 2 * d) + floats(m, d) : self_attention(m, target_heads);
  const size_t of_source = has_encoder(config()) ? sum(m) + cross_attention : 0;
  EXPECT_EQ(held(1, 3) - held(1, 2),
            2 * sum(m) + of_target + of_source + feed_forward(m, decoder_d_ff(config())));
}

// Memory falls as the tape unwinds: gradients come, but what they were computed from goes.
TEST_P(Backward, NeedsLittleMoreMemoryThanForward) {
  Tape tape;
  forward(tape);
  tape.backward();
  Pool& pool = small_.device.pool;
  const size_t before = pool.in_use();
  forward(tape);
  const size_t held = pool.in_use() - before;
  tape.backward();
  EXPECT_LT(pool.peak() - before, held + held / 2);
}

// The whole of it, dropout included, along one direction of all weights at once.
TEST_P(Backward, IsTheDerivative) {
  if (has_ssru(config())) GTEST_SKIP() << "its relu has a kink, and is compared with PyTorch's instead";
  if (config().activation == Activation::relu) {
    small_.model.config.activation = Activation::swish;  // without a kink the difference is exact
  }
  Parameters& parameters = small_.model.parameters;
  const auto size = static_cast<size_t>(parameters.trained_size());
  const std::span<float> weights = parameters.weights().first(size);
  Tape tape;
  parameters.clear_gradients();
  forward(tape);
  tape.backward();
  const std::vector<float> start = downloaded(parameters.memory(), weights),
                           gradients = downloaded(parameters.memory(), parameters.gradients().first(size));
  const std::vector<float> direction = random_floats(weights.size(), 4);
  double expected = 0, squares = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    expected += double{gradients[i]} * double{direction[i]};
    squares += double{gradients[i]} * double{gradients[i]};
  }
  const auto at = [&](double distance) {
    {
      const HostView<float> moved(parameters.memory(), weights, Content::replaced);
      for (size_t i = 0; i < moved.size(); ++i)
        moved[i] = start[i] + static_cast<float>(distance) * direction[i];
    }
    parameters.changed();
    const double sum = forward(tape);
    tape.clear();
    return sum;
  };
  const double h = 0.002;
  const double derivative = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  EXPECT_NEAR(derivative, expected, 2e-3 * std::sqrt(squares));
}

INSTANTIATE_TEST_SUITE_P(On, Backward, testing::ValuesIn(model_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(OnLanguageModels, Backward, testing::ValuesIn(model_cases(small_language_models())),
                         model_case_name);

}  // namespace
}  // namespace dragoman::internal
