// An SSRU whose input learns no bias.
#include "model/small_models.h"

namespace dragoman::internal {
namespace {

ModelConfig recurrent(bool input_bias, Initialiser initialiser = Initialiser::xavier) {
  return {.encoder_layers = 1,
          .decoder_layers = 2,
          .d_model = 16,
          .heads = 2,
          .d_ff = 24,
          .decoder_self_attention = DecoderSelfAttention::ssru,
          .ssru_input_bias = input_bias,
          .initialiser = initialiser,
          .source_vocabulary = 20,
          .target_vocabulary = 20};
}

// Of all weights, of two batches. All biases begin at zero.
std::vector<float> gradients(bool input_bias) {
  SmallModel small(recurrent(input_bias), kernels_for("baseline"), 1, /*gradients=*/true);
  const Tokens source = pack(small.device, random_sentences(3, 20, 7, 1), {0, 1, 2}),
               target = pack(small.device, random_sentences(3, 20, 6, 2), {0, 1, 2});
  Tape tape;
  for (int batch = 0; batch < 2; ++batch) {
    Pass pass{.device = small.device, .tape = &tape, .seed = 3, .update = 1};
    loss(pass, small.model, source, target, target.ids, {0.1F, SmoothingOver::all});
    tape.backward();
  }
  return downloaded(small.device.memory, small.model.parameters.gradients());
}

TEST(SsruInputBias, IsNotLearnedAndNothingElseChanges) {
  const std::vector<float> with = gradients(true), without = gradients(false);
  Device device(kernels_for("baseline"), 1);
  const Transformer model(recurrent(false), device, Buffers::weights_and_gradients);
  size_t biases = 0;
  for (const Parameter& parameter : model.parameters.list()) {
    const bool is_bias = parameter.name.ends_with("gate_and_input.bias");
    biases += is_bias ? 1 : 0;
    const auto first = static_cast<size_t>(parameter.offset), size = static_cast<size_t>(parameter.size()),
               learned = is_bias ? size / 2 : size;
    for (size_t i = 0; i < size; ++i)
      EXPECT_EQ(without[first + i], i < learned ? with[first + i] : 0) << parameter.name << " " << i;
    if (is_bias) {
      EXPECT_NE(with[first + learned], 0);
    }
  }
  EXPECT_EQ(biases, 2U);
}

TEST(SsruInputBias, BeginsAtZero) {
  Device device(kernels_for("baseline"), 1);
  for (const bool input_bias : {false, true}) {
    Transformer model(recurrent(input_bias, Initialiser::pytorch), device, Buffers::weights);
    model.parameters.initialise(1);
    const HostView<const float> bias = model.decoder[0].ssru.gate_and_input.bias.values();
    EXPECT_EQ(std::ranges::all_of(bias, [](float value) { return value == 0; }), !input_bias);
  }
}

}  // namespace
}  // namespace dragoman::internal
