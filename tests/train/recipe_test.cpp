#include "train/recipe.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace dragoman {
namespace {

Recipe read(const std::string& path) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe_file(path);
  options.check([&] { validate(recipe); });
  return recipe;
}

TEST(Recipe, EveryRecipeOfTheRepositoryIsValid) {
  int recipes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DRAGOMAN_SOURCE_DIR "/recipes")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(read(entry.path().string())) << entry.path();
    ++recipes;
  }
  EXPECT_GT(recipes, 0);
}

TEST(Recipe, TheCopyTaskIsTheArticles) {
  const Recipe recipe = read(DRAGOMAN_SOURCE_DIR "/recipes/copy.toml");
  EXPECT_EQ(recipe.data.symbols, 11);
  EXPECT_EQ(recipe.data.sentences * recipe.data.batches, 600);
  EXPECT_EQ(recipe.model.encoder_layers, 2);
  EXPECT_EQ(recipe.model.decoder_layers, 2);
  EXPECT_EQ(recipe.model.d_model, 512);
  EXPECT_EQ(recipe.model.norm, NormOrder::pre);
  EXPECT_EQ(recipe.model.embedding_initialiser, EmbeddingInitialiser::xavier);
  EXPECT_EQ(recipe.training.factor, 1);
  EXPECT_EQ(recipe.training.warmup, 400);
  EXPECT_EQ(recipe.training.label_smoothing, 0);
  EXPECT_EQ(recipe.training.max_epochs, 10);
}

TEST(Recipe, TrainingMustEnd) {
  Recipe recipe;
  EXPECT_THROW(validate(recipe), OptionError);
  recipe.training.max_steps = 1;
  EXPECT_NO_THROW(validate(recipe));
  recipe.training = {.max_epochs = 1};
  EXPECT_NO_THROW(validate(recipe));
}

TEST(Recipe, EveryPartIsChecked) {
  const auto refused = [](auto change) {
    Recipe recipe{.training = {.max_steps = 1}};
    change(recipe);
    try {
      validate(recipe);
    } catch (const OptionError& error) {
      return error.key;
    }
    return std::string();
  };
  EXPECT_EQ(refused([](Recipe&) {}), "");
  EXPECT_EQ(refused([](Recipe& r) { r.model.heads = 7; }), "model.heads");
  EXPECT_EQ(refused([](Recipe& r) { r.data.symbols = 1; }), "data.symbols");
  EXPECT_EQ(refused([](Recipe& r) { r.training.label_smoothing = 1; }), "training.label_smoothing");
  EXPECT_EQ(refused([](Recipe& r) { r.training.warmup = 0; }), "training.warmup");
}

}  // namespace
}  // namespace dragoman
