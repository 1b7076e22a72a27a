// What finished translations attended to: whole, each pair's own, and the same in whatever company.
#include "search/attention.h"

#include <cmath>
#include <numeric>

#include "model/attentions.h"
#include "model/small_models.h"
#include "text/special_ids.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
namespace {

class AttentionRowsTest : public testing::TestWithParam<ModelCase> {
 protected:
  const ModelConfig& config() const { return GetParam().named.config; }

  const std::vector<Sentence> sources_ = random_sentences(5, config().source_vocabulary, 30, 1),
                              outputs_ = random_sentences(5, config().target_vocabulary, 25, 2);
  SmallModel small_{config(), *GetParam().kernels, 2};
};

TEST_P(AttentionRowsTest, ARowForEachTokenAndTheEndSumsToOne) {
  const auto all = attention_rows(small_.model, packed_side(sources_), packed_side(outputs_), bos_id, 1);
  ASSERT_EQ(all.size(), sources_.size());
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].size(), outputs_[i].size() + 1);
    for (const auto& row : all[i]) {
      ASSERT_EQ(row.size(), sources_[i].size());
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-5);
    }
  }
}

TEST_P(AttentionRowsTest, APairGetsWhatItGetsAlone) {
  const auto all = attention_rows(small_.model, packed_side(sources_), packed_side(outputs_), bos_id, 1);
  SmallModel one_thread(config(), *GetParam().kernels, 1);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto alone =
        attention_rows(one_thread.model, packed_side({sources_[i]}), packed_side({outputs_[i]}), bos_id, 1);
    for (size_t t = 0; t < all[i].size(); ++t) EXPECT_TRUE(same_bits(alone[0][t], all[i][t]));
  }
}

// What a token attended to depends on the output before it, and not on itself or what comes after.
TEST_P(AttentionRowsTest, ARowIsOfTheOutputBeforeIt) {
  const int64_t layer = config().decoder_layers;
  Sentence output = outputs_[1], other = output;
  other[10] = (other[10] + 1) % static_cast<int32_t>(config().target_vocabulary);
  const PackedSide source = packed_side({sources_[1]});
  const auto a = attention_rows(small_.model, source, packed_side({output}), bos_id, layer)[0],
             b = attention_rows(small_.model, source, packed_side({other}), bos_id, layer)[0];
  for (size_t t = 0; t < a.size(); ++t) EXPECT_EQ(same_bits(a[t], b[t]), t <= 10) << t;
}

TEST_P(AttentionRowsTest, EveryLayerOfEachKindIsThere) {
  const std::vector<uint64_t> pairs(5);
  const Tokens source = pack(small_.device, sources_, pairs), target = pack(small_.device, outputs_, pairs);
  const Attentions all = attentions(small_.model, source, target);
  ASSERT_EQ(static_cast<int64_t>(all.encoder.size()), config().encoder_layers);
  ASSERT_EQ(static_cast<int64_t>(all.decoder.size()), has_ssru(config()) ? 0 : config().decoder_layers);
  ASSERT_EQ(static_cast<int64_t>(all.cross.size()), config().decoder_layers);
  for (int64_t layer = 1; layer <= config().decoder_layers; ++layer) {
    const Tensor& of_all = all.cross.at(static_cast<size_t>(layer - 1));
    const Tensor alone = cross_attention(small_.model, source, target, layer);
    EXPECT_TRUE(same_bits(alone.values().span(), of_all.values().span()));
  }
  for (const Tensor& t : all.encoder) EXPECT_EQ(t.columns() / config().heads, source.spans.longest);
  const auto width = [&](const Tensor& t) { return t.columns() / decoder_heads(config()); };
  for (const Tensor& t : all.decoder) {
    EXPECT_EQ(width(t), target.spans.longest);
    EXPECT_EQ(t.values()[0], 1) << "the first token sees itself alone";
  }
  for (const Tensor& t : all.cross) {
    EXPECT_EQ(t.rows(), target.count());
    EXPECT_EQ(width(t), source.spans.longest);
  }
}

INSTANTIATE_TEST_SUITE_P(On, AttentionRowsTest, testing::ValuesIn(few_on_fibers(model_cases())),
                         model_case_name);

TEST(AlignmentLayer, IsTheLastButOneUnlessAnotherIsWanted) {
  ModelConfig config;
  config.decoder_layers = 6;
  EXPECT_EQ(alignment_layer(config, 0), 5);
  EXPECT_EQ(alignment_layer(config, 6), 6);
  EXPECT_THROW(alignment_layer(config, 7), UsageError);
  config.decoder_layers = 1;
  EXPECT_EQ(alignment_layer(config, 0), 1);
}

TEST(AlignmentLayer, IsTheOneThatHasLearnedToAlign) {
  ModelConfig config;
  config.alignment_layer = 3;
  EXPECT_EQ(alignment_layer(config, 0), 3);
  EXPECT_EQ(alignment_layer(config, 5), 5);
  EXPECT_EQ(alignment_heads(config, 3), 1);
  EXPECT_EQ(alignment_heads(config, 5), config.heads);
}

TEST(Coverage, IsTheLogOfWhatEachWordGotUpToOne) {
  const AttentionRows rows = {{0.75F, 0.25F, 0, 0}, {0.5F, 0.25F, 0.125F, 0.125F}};
  EXPECT_NEAR(coverage(rows, {true, true, true, false}), std::log(0.5) + std::log(0.125), 1e-12);
  EXPECT_NEAR(coverage(rows, {true, true, true, true}), std::log(0.5) + 2 * std::log(0.125), 1e-12);
  EXPECT_TRUE(std::isfinite(coverage({{1, 0}}, {true, true})));
}

TEST(MostAttended, IsAnEndMarkOnlyWhereNothingElseIs) {
  EXPECT_EQ(max_attended({0.1F, 0.2F, 0.7F}, {5, 6, eos_id}, {eos_id}), 1U);
  EXPECT_EQ(max_attended({0.7F, 0.1F, 0.2F}, {eos_id, 5, 6}, {eos_id}), 2U);
  EXPECT_EQ(max_attended({0.4F, 0.4F, 0.2F}, {5, 6, eos_id}, {eos_id}), 0U);
  EXPECT_EQ(max_attended({1}, {eos_id}, {eos_id}), 0U);
}

}  // namespace
}  // namespace dragoman::internal
