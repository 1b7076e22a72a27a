// A stack's pieces, put together by hand, are the stack: to the bit, for every kind of model.
#include "model/residual.h"
#include "model/small_models.h"

namespace dragoman::internal {
namespace {

class Pieces : public testing::TestWithParam<ModelCase> {
 protected:
  Pieces() : small_(GetParam().named.config, *GetParam().kernels, 2) {}

  Tokens tokens(int64_t vocabulary, uint64_t key) {
    return pack(small_.device, random_sentences(3, vocabulary, 9, key), {0, 1, 2});
  }
  static void expect_same(const Tensor& a, const Tensor& b) {
    const HostView<const float> first = a.values(), second = b.values();
    EXPECT_TRUE(same_bits(first.span(), second.span()));
  }

  SmallModel small_;
  Transformer& model_ = small_.model;
  Pass pass_{.device = small_.device};
};

class EncoderPieces : public Pieces {};
class DecoderPieces : public Pieces {};

TEST_P(EncoderPieces, MakeTheEncoder) {
  const Tokens source = tokens(model_.config.source_vocabulary, 1);
  Residual residual(pass_, model_.config, source.rows, embed_tokens(pass_, model_, Stack::encoder, source));
  for (size_t i = 0; i < model_.encoder.size(); ++i) {
    residual.add(model_.encoder[i].self_attention.norm, [&](const Tensor& x) {
      return self_attention(pass_, model_, Stack::encoder, i, x, source);
    });
    residual.add(model_.encoder[i].feed_forward.norm,
                 [&](const Tensor& x) { return feed_forward(pass_, model_, Stack::encoder, i, x, source); });
  }
  expect_same(residual.output(model_.encoder_norm), encode(pass_, model_, source));
}

TEST_P(DecoderPieces, MakeTheDecoder) {
  const Tokens source = tokens(model_.config.source_vocabulary, 1),
               target = tokens(model_.config.target_vocabulary, 2);
  const EncodedSource memory = memory_of(pass_, model_, source);
  Residual residual(pass_, model_.config, target.rows, embed_tokens(pass_, model_, Stack::decoder, target));
  for (size_t i = 0; i < model_.decoder.size(); ++i) {
    const DecoderLayer& layer = model_.decoder[i];
    residual.add(has_ssru(model_.config) ? layer.ssru.norm : layer.self_attention.norm, [&](const Tensor& x) {
      return self_attention(pass_, model_, Stack::decoder, i, x, target);
    });
    if (has_encoder(model_.config)) {
      residual.add(layer.cross_attention.norm,
                   [&](const Tensor& x) { return cross_attention(pass_, model_, i, x, target, memory); });
    }
    residual.add(layer.feed_forward.norm,
                 [&](const Tensor& x) { return feed_forward(pass_, model_, Stack::decoder, i, x, target); });
  }
  expect_same(residual.output(model_.decoder_norm), decode(pass_, model_, target, memory));
}

INSTANTIATE_TEST_SUITE_P(On, EncoderPieces, testing::ValuesIn(model_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(On, DecoderPieces, testing::ValuesIn(model_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(OnLanguageModels, DecoderPieces,
                         testing::ValuesIn(model_cases(small_language_models())), model_case_name);

}  // namespace
}  // namespace dragoman::internal
