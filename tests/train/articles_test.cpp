// The recipes that are named after an article have what docs/variants.md says of it.
#include <gtest/gtest.h>

#include "train/recipe.h"

namespace dragoman::internal {
namespace {

Recipe recipe_named(const std::string& name) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe_file(DRAGOMAN_SOURCE_DIR "/recipes/" + name + ".toml");
  return recipe;
}

void expect_dropouts(const ModelConfig& model, double sublayers, double attention, double activation,
                     double embedding) {
  EXPECT_EQ(model.dropout, sublayers);
  EXPECT_EQ(model.attention_dropout, attention);
  EXPECT_EQ(model.activation_dropout, activation);
  EXPECT_EQ(model.embedding_dropout, embedding);
}

void expect_adam(const TrainingConfig& training, double beta2, double epsilon) {
  EXPECT_EQ(training.optimizer, Optimizer::adam);
  EXPECT_EQ(training.beta1, 0.9);
  EXPECT_EQ(training.beta2, beta2);
  EXPECT_EQ(training.epsilon, epsilon);
}

void expect_noam(const TrainingConfig& training, double factor, int64_t warmup) {
  EXPECT_EQ(training.schedule, Schedule::noam);
  EXPECT_EQ(training.factor, factor);
  EXPECT_EQ(training.warmup, warmup);
}

// One rate throughout, and targets as they are.
void expect_plain(const TrainingConfig& training) {
  EXPECT_EQ(training.schedule, Schedule::constant);
  EXPECT_EQ(training.learning_rate, 1e-4);
  EXPECT_EQ(training.label_smoothing, 0);
}

// Except for its learning rate, which the recipe explains.
TEST(Articles, TheCopyTaskIsTheArticles) {
  const Recipe recipe = recipe_named("copy");
  EXPECT_EQ(recipe.data.symbols, 11);
  EXPECT_EQ(recipe.data.sentences * recipe.data.batches, 600);
  EXPECT_EQ(recipe.model.encoder_layers, 2);
  EXPECT_EQ(recipe.model.decoder_layers, 2);
  EXPECT_EQ(recipe.model.d_model, 512);
  EXPECT_EQ(recipe.model.norm, NormOrder::pre);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::xavier);
  expect_dropouts(recipe.model, 0.1, 0.1, 0.1, 0.1);
  EXPECT_EQ(recipe.training.label_smoothing, 0);
}

TEST(Articles, TheAnnotatedTransformersTranslatorIsTheArticles) {
  const Recipe recipe = recipe_named("annotated-transformer-iwslt-de-en");
  EXPECT_EQ(recipe.vocabulary.kind, PieceKind::words);
  EXPECT_EQ(recipe.vocabulary.min_frequency, 2);
  EXPECT_FALSE(recipe.vocabulary.source_eos);
  EXPECT_EQ(recipe.data.max_length, 100);
  EXPECT_EQ(recipe.model.norm, NormOrder::pre);
  EXPECT_EQ(recipe.model.tied, Tied::none);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::xavier);
  expect_dropouts(recipe.model, 0.1, 0.1, 0.1, 0.1);
  expect_adam(recipe.training, 0.98, 1e-9);
  expect_noam(recipe.training, 1, 2000);
  EXPECT_EQ(recipe.training.batch_tokens, 12'000);
  EXPECT_EQ(recipe.training.label_smoothing, 0.1);
  EXPECT_EQ(recipe.training.smoothing_over, SmoothingOver::others);
  EXPECT_EQ(recipe.training.max_epochs, 10);
}

TEST(Articles, TheEuroparlTranslatorIsTheArticles) {
  const Recipe recipe = recipe_named("europarl-en-fr");
  EXPECT_EQ(recipe.data.limit, 150'000);
  EXPECT_FALSE(recipe.vocabulary.shared);
  EXPECT_TRUE(recipe.vocabulary.source_eos);
  EXPECT_EQ(recipe.model.positions, Positions::raw_index);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::xavier);
  expect_dropouts(recipe.model, 0.1, 0.1, 0.1, 0);
  expect_adam(recipe.training, 0.999, 1e-8);
  expect_plain(recipe.training);
  EXPECT_EQ(recipe.validation.keep_best_by, KeepBestBy::train_loss);
}

TEST(Articles, PostNormIsTheHowTos) {
  const Recipe recipe = recipe_named("post-norm");
  EXPECT_EQ(recipe.model.norm, NormOrder::post);
  EXPECT_EQ(recipe.model.norm_eps, 1e-5);
  EXPECT_EQ(recipe.model.initialiser, Initialiser::pytorch);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::unit);
  EXPECT_EQ(recipe.model.tied, Tied::none);
  EXPECT_EQ(recipe.vocabulary.size, 10'000);
  expect_dropouts(recipe.model, 0.1, 0, 0.1, 0.1);
  expect_adam(recipe.training, 0.98, 1e-9);
  expect_plain(recipe.training);
}

TEST(Articles, TheWalkThroughIsTheArticles) {
  const Recipe recipe = recipe_named("walk-through-en-fr");
  EXPECT_EQ(recipe.model.norm, NormOrder::pre);
  EXPECT_EQ(recipe.model.positions, Positions::raw_index);
  EXPECT_EQ(recipe.model.initialiser, Initialiser::pytorch);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::unit);
  EXPECT_EQ(recipe.model.tied, Tied::none);
  expect_dropouts(recipe.model, 0.1, 0.1, 0.1, 0.1);
  EXPECT_FALSE(recipe.vocabulary.source_eos);
  EXPECT_EQ(recipe.training.max_epochs, 100);
}

TEST(Articles, Tensor2tensorIsTheLessons) {
  const Recipe recipe = recipe_named("tensor2tensor-wmt-de-en");
  EXPECT_EQ(recipe.data.max_length, 100);
  EXPECT_EQ(recipe.vocabulary.size, 32'000);
  EXPECT_TRUE(recipe.vocabulary.shared);
  EXPECT_EQ(recipe.model.norm, NormOrder::pre);
  EXPECT_EQ(recipe.model.positions, Positions::tensor2tensor);
  EXPECT_EQ(recipe.model.tied, Tied::all);
  EXPECT_TRUE(recipe.model.zero_start);
  expect_dropouts(recipe.model, 0.1, 0.1, 0.1, 0.1);
  expect_adam(recipe.training, 0.997, 1e-9);
  expect_noam(recipe.training, 2, 16'000);
  EXPECT_EQ(recipe.training.batch_tokens, 4096);
  EXPECT_EQ(recipe.training.label_smoothing, 0.1);
  EXPECT_EQ(recipe.training.smoothing_over, SmoothingOver::others);
}

TEST(Articles, ThePapersAreTheTablesOfThePaper) {
  struct Row {
    const char* name;
    int64_t pieces, d_model, heads, d_ff, steps;
    double dropout;
  };
  for (const Row& row : {Row{"paper-base-wmt-en-de", 37'000, 512, 8, 2048, 100'000, 0.1},
                         Row{"paper-big-wmt-en-de", 37'000, 1024, 16, 4096, 300'000, 0.3},
                         Row{"paper-big-wmt-en-fr", 32'000, 1024, 16, 4096, 300'000, 0.1}}) {
    SCOPED_TRACE(row.name);
    const Recipe recipe = recipe_named(row.name);
    EXPECT_EQ(recipe.vocabulary.size, row.pieces);
    EXPECT_TRUE(recipe.vocabulary.shared);
    EXPECT_EQ(recipe.model.encoder_layers, 6);
    EXPECT_EQ(recipe.model.decoder_layers, 6);
    EXPECT_EQ(recipe.model.d_model, row.d_model);
    EXPECT_EQ(recipe.model.heads, row.heads);
    EXPECT_EQ(recipe.model.d_ff, row.d_ff);
    EXPECT_EQ(recipe.model.norm, NormOrder::post);
    EXPECT_EQ(recipe.model.tied, Tied::all);
    expect_dropouts(recipe.model, row.dropout, 0, 0, row.dropout);
    expect_adam(recipe.training, 0.98, 1e-9);
    expect_noam(recipe.training, 1, 4000);
    EXPECT_EQ(recipe.training.batch_tokens * recipe.training.accumulate, 25'000);
    EXPECT_EQ(recipe.training.precision, TrainingPrecision::automatic);
    EXPECT_EQ(recipe.training.label_smoothing, 0.1);
    EXPECT_EQ(recipe.training.smoothing_over, SmoothingOver::all);
    EXPECT_EQ(recipe.training.max_steps, row.steps);
  }
}

}  // namespace
}  // namespace dragoman::internal
