#include "model/config.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace dragoman::internal {
namespace {

// The key that validate() names; empty where all is well.
std::string refused(const ModelConfig& config) {
  try {
    validate(config);
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find(error.key), std::string::npos) << error.what();
    return error.key;
  }
  return "";
}

TEST(ModelConfig, TheDefaultsAreValid) { EXPECT_EQ(refused({}), ""); }

TEST(ModelConfig, ABadValueIsAnErrorThatNamesTheKey) {
  EXPECT_EQ(refused({.encoder_layers = 0}), "model.encoder_layers");
  EXPECT_EQ(refused({.decoder_layers = 0}), "model.decoder_layers");
  EXPECT_EQ(refused({.d_model = -512}), "model.d_model");
  EXPECT_EQ(refused({.d_model = int64_t{1} << 40}), "model.d_model");
  EXPECT_EQ(refused({.heads = 0}), "model.heads");
  EXPECT_EQ(refused({.d_model = 512, .heads = 7}), "model.heads");
  EXPECT_EQ(refused({.d_ff = 0}), "model.d_ff");
  EXPECT_EQ(refused({.decoder_heads = -1}), "model.decoder_heads");
  EXPECT_EQ(refused({.decoder_heads = 7}), "model.decoder_heads");
  EXPECT_EQ(refused({.decoder_d_ff = -1}), "model.decoder_d_ff");
  EXPECT_EQ(refused({.norm_eps = 0}), "model.norm_eps");
  EXPECT_EQ(refused({.activation = Activation::none}), "model.activation");
  EXPECT_EQ(refused({.position_offset = -1}), "model.position_offset");
  EXPECT_EQ(refused({.max_positions = 0}), "model.max_positions");
  EXPECT_EQ(refused({.embedding_scale = -1}), "model.embedding_scale");
  EXPECT_EQ(refused({.dropout = 1.5}), "model.dropout");
  EXPECT_EQ(refused({.attention_dropout = 1.0}), "model.attention_dropout");
  EXPECT_EQ(refused({.activation_dropout = -0.1}), "model.activation_dropout");
  EXPECT_EQ(refused({.embedding_dropout = 2}), "model.embedding_dropout");
}

TEST(ModelConfig, SinesNeedAnEvenWidth) {
  EXPECT_EQ(refused({.d_model = 15, .heads = 3}), "model.d_model");
  EXPECT_EQ(refused({.d_model = 15, .heads = 3, .positions = Positions::halves}), "model.d_model");
  EXPECT_EQ(refused({.d_model = 15, .heads = 3, .positions = Positions::learned}), "");
  EXPECT_EQ(refused({.d_model = 15, .heads = 3, .positions = Positions::stored}), "");
}

TEST(ModelConfig, TyingAllNeedsOneVocabulary) {
  EXPECT_EQ(refused({.tied = Tied::all}), "");  // the vocabularies are not known yet
  EXPECT_EQ(refused({.tied = Tied::all, .source_vocabulary = 8, .target_vocabulary = 8}), "");
  EXPECT_EQ(refused({.tied = Tied::all, .source_vocabulary = 8, .target_vocabulary = 9}), "model.tied");
  EXPECT_EQ(refused({.tied = Tied::output, .source_vocabulary = 8, .target_vocabulary = 9}), "");
}

TEST(ModelConfig, ComesBackFromJson) {
  const ModelConfig config{.encoder_layers = 1,
                           .norm = NormOrder::post,
                           .norm_eps = 1e-5,
                           .positions = Positions::learned,
                           .tied = Tied::output,
                           .dropout = 0.3,
                           .source_vocabulary = 100,
                           .target_vocabulary = 200};
  const nlohmann::json json = nlohmann::json::parse(to_json(config).dump());
  EXPECT_EQ(json["norm"], "post");
  EXPECT_EQ(json["target_vocabulary"], 200);
  const ModelConfig back = model_config_from_json(json, "config.json");
  EXPECT_EQ(to_json(back), json);
  EXPECT_EQ(back.norm_eps, 1e-5);
  EXPECT_EQ(back.source_vocabulary, 100);
}

TEST(ModelConfig, BrokenJsonIsRefused) {
  const auto read = [](const char* text) {
    return model_config_from_json(nlohmann::json::parse(text), "config.json");
  };
  EXPECT_EQ(read("{}").d_model, 512);  // a key that a later version added
  EXPECT_THROW(read("[]"), UsageError);
  EXPECT_THROW(read(R"({"d_modle": 8})"), UsageError);
  EXPECT_THROW(read(R"({"heads": 7})"), UsageError);
  EXPECT_THROW(read(R"({"source_vocabulary": -1})"), UsageError);
  EXPECT_THROW(read(R"({"source_vocabulary": 3.5})"), UsageError);
  EXPECT_THROW(read(R"({"target_vocabulary": 4294967296})"), UsageError);
}

}  // namespace
}  // namespace dragoman::internal
