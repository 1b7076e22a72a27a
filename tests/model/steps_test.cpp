// Decoding a token at a time, with a cache, gives the logits of all tokens at once, to the bit.
#include <numeric>

#include "base/error.h"
#include "model/caches.h"
#include "model/small_models.h"

namespace dragoman::internal {
namespace {

class Steps : public testing::TestWithParam<ModelCase> {
 protected:
  Steps() : small_(GetParam().named.config, *GetParam().kernels, 2) {
    if (GetParam().precision != Precision::fp32)
      quantize_weights(small_.device, small_.model.parameters, GetParam().precision);
  }

  // A row for each token of the sentence that stands in this slot.
  std::vector<float> all_at_once(size_t i) {
    Pass pass{small_.device};
    const Tokens source = pack(small_.device, {sources_[i]}, {0});
    const Tokens target = pack(small_.device, {targets_[i]}, {0});
    const EncodedSource memory = memory_of(pass, small_.model, source);
    const Tensor logits = next_word_logits(pass, small_.model, decode(pass, small_.model, target, memory));
    return rows_of(logits, {0, static_cast<int32_t>(target.count())});
  }

  // The logits after token number `t` of these sentences.
  Tensor step(const std::vector<int32_t>& active, int32_t t, Cache& cache, const Cache& sources,
              const Tokens& source) {
    Device& device = small_.device;
    std::vector<int32_t> ids;
    std::vector<std::span<const int32_t>> rows, source_rows;
    for (const int32_t i : active) {
      ids.push_back(targets_[static_cast<size_t>(i)][static_cast<size_t>(t)]);
      rows_[static_cast<size_t>(i)].push_back(numbers_.take());
      rows.push_back(rows_[static_cast<size_t>(i)]);
      const Span span = source.spans.spans.values()[static_cast<size_t>(i)];
      source_rows.push_back(
          std::span(source_rows_).subspan(static_cast<size_t>(span.begin), static_cast<size_t>(span.length)));
    }
    const std::vector<int32_t> ones(active.size(), 1), lengths(active.size(), t);
    const Tokens tokens = pack_tokens(device, ids, ones, std::vector<uint64_t>(active.size()), lengths);
    const KeyRows seen = key_rows(device, source_rows);
    const EncodedSource memory = {.spans = &seen.spans, .rows = &seen.rows, .key_values = sources.key_values};
    const CacheStep cached = cache_step(device, cache, rows);
    Pass pass{device};
    return next_word_logits(pass, small_.model, decode(pass, small_.model, tokens, memory, &cached));
  }

  SmallModel small_;
  CacheRows numbers_;
  std::vector<std::vector<int32_t>> rows_{5};
  std::vector<int32_t> source_rows_;
  std::vector<Sentence> sources_ = random_sentences(5, small_.model.config.source_vocabulary, 12, 1);
  std::vector<Sentence> targets_ = random_sentences(5, small_.model.config.target_vocabulary, 70, 2);
};

// Sentences end one after the other, and those that are left move up: their order turns round at every step.
TEST_P(Steps, AreAllAtOnce) {
  Device& device = small_.device;
  const Tokens source = pack(device, sources_, {0, 0, 0, 0, 0});
  Pass pass{device};
  const ModelConfig& config = small_.model.config;
  Cache cache = target_cache(small_.model), sources = source_cache(small_.model);
  source_rows_.resize(static_cast<size_t>(source.count()));
  std::iota(source_rows_.rbegin(), source_rows_.rend(), 3);  // anywhere, and not in their order
  if (has_encoder(config))
    cache_cross_attention(pass, small_.model, encode(pass, small_.model, source), sources, source_rows_);
  std::vector<std::vector<float>> logits(5);
  std::vector<int32_t> active = {3, 0, 4, 1, 2};
  for (int32_t t = 0; t < 70; ++t) {
    std::erase_if(
        active, [&](int32_t i) { return targets_[static_cast<size_t>(i)].size() <= static_cast<size_t>(t); });
    std::rotate(active.begin(), active.begin() + 1, active.end());
    const Tensor scores = step(active, t, cache, sources, source);
    for (size_t row = 0; row < active.size(); ++row) {
      const auto values = rows_of(scores, {static_cast<int32_t>(row), 1});
      auto& all = logits[static_cast<size_t>(active[row])];
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(same_bits(logits[i], all_at_once(i))) << "sentence " << i;
}

INSTANTIATE_TEST_SUITE_P(On, Steps, testing::ValuesIn(decoding_cases()), model_case_name);
INSTANTIATE_TEST_SUITE_P(OnLanguageModels, Steps, testing::ValuesIn(decoding_cases(small_language_models())),
                         model_case_name);

// Heads that a GPU's tensor cores take, with caches in bf16.
std::vector<NamedConfig> configs_for_tensor_cores() {
  NamedConfig narrow = small_configs()[0];
  narrow.name = "narrow_heads";
  narrow.config.d_model = 32;
  NamedConfig wide = narrow;
  wide.name = "wide_heads";
  wide.config.d_model = 144;
  return {narrow, wide};
}
INSTANTIATE_TEST_SUITE_P(OnTensorCores, Steps, testing::ValuesIn(decoding_cases(configs_for_tensor_cores())),
                         model_case_name);

// Whatever the start symbol's embedding is; that of another word counts.
TEST(ZeroStart, TheFirstEmbeddingIsNotRead) {
  ModelConfig config = small_configs()[0].config;
  config.zero_start = true;
  SmallModel small(config, kernels_for(nullptr), 1);
  const auto logits = [&](const Sentence& sentence) {
    Pass pass{small.device};
    const Tokens source = pack(small.device, {{5, 1, 2}}, {0}), target = pack(small.device, {sentence}, {0});
    const EncodedSource memory = {.encoded = encode(pass, small.model, source), .spans = &source.spans};
    return rows_of(next_word_logits(pass, small.model, decode(pass, small.model, target, memory)), {0, 2});
  };
  EXPECT_TRUE(same_bits(logits({1, 4}), logits({2, 4})));
  EXPECT_FALSE(same_bits(logits({1, 4}), logits({1, 5})));
  small.model.config.zero_start = false;
  EXPECT_FALSE(same_bits(logits({1, 4}), logits({2, 4})));
}

class PositionsInTheModel : public testing::TestWithParam<Positions> {};

TEST_P(PositionsInTheModel, ALongerSentenceIsAnErrorThatNamesTheKey) {
  ModelConfig config = small_configs()[0].config;
  config.positions = GetParam();
  config.max_positions = 10;
  SmallModel small(config, kernels_for(nullptr), 1);
  Pass pass{small.device};
  EXPECT_NO_THROW(encode(pass, small.model, pack(small.device, {Sentence(10, 1)}, {0})));
  try {
    encode(pass, small.model, pack(small.device, {Sentence(4, 1), Sentence(11, 1)}, {0, 1}));
    FAIL() << "eleven tokens for ten positions";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("model.max_positions"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("11"), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PositionsInTheModel, testing::Values(Positions::learned, Positions::stored));

}  // namespace
}  // namespace dragoman::internal
