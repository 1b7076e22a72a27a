#include "train/recipe.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "data/corpora.h"

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
    Recipe recipe;
    EXPECT_NO_THROW(recipe = read(entry.path().string())) << entry.path();
    EXPECT_TRUE(recipe.data.synthetic != Synthetic::none || !recipe.data.obtain.empty())
        << entry.path() << " does not say where its corpus comes from";
    ++recipes;
  }
  EXPECT_GT(recipes, 0);
}

// docs/options.md comes from the declarations. Where this fails:
//   DRAGOMAN_WRITE_DOCS=1 build/release/tests/test_train --gtest_filter='*OptionsPage*'
TEST(Recipe, TheOptionsPageSaysWhatIsDeclared) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  const std::string path = DRAGOMAN_SOURCE_DIR "/docs/options.md";
  const std::string page =
      "# The options of a recipe\n\n"
      "Each is a key of its table in the recipe, and a flag of the same name: `--model.d_model 512`. For a "
      "flag commas\n"
      "separate a list's items, and `\"\"` empties it.\n"
      "This page is written from the declarations in `src/`; edit those.\n\n" +
      options.markdown();
  if (std::getenv("DRAGOMAN_WRITE_DOCS") != nullptr) write_file(path, {page});
  EXPECT_EQ(read_file(path), page);
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
  EXPECT_EQ(refused([](Recipe& r) { r.model.positions = Positions::learned, r.model.max_positions = 9; }),
            "model.max_positions");
  EXPECT_EQ(refused([](Recipe& r) { r.data.symbols = 1; }), "data.symbols");
  const auto by_bleu = [](Recipe& r) { r.validation.keep_best_by = KeepBestBy::bleu; };
  EXPECT_EQ(refused(by_bleu), "validation.keep_best_by");  // of which sentences?
  EXPECT_EQ(refused([&](Recipe& r) { by_bleu(r), r.data.hold_out = 1; }), "");
  EXPECT_EQ(refused([&](Recipe& r) { by_bleu(r), r.data.hold_out = 1, r.validation.metrics = {"loss"}; }),
            "validation.keep_best_by");
  EXPECT_EQ(refused([](Recipe& r) { r.training.label_smoothing = 1; }), "training.label_smoothing");
  EXPECT_EQ(refused([](Recipe& r) { r.training.warmup = 0; }), "training.warmup");
}

// As many pieces on both sides are no reason to share a matrix: the pieces must be the same.
TEST(Recipe, AllIsTiedOnlyWithOneVocabulary) {
  const TemporaryFolder folder;
  Recipe recipe{.model = {.tied = Tied::all}, .training = {.max_steps = 1}};
  const auto is_refused = [&] {
    try {
      validate(recipe);
    } catch (const OptionError& error) {
      return error.key == "model.tied";
    }
    return false;
  };
  EXPECT_TRUE(is_refused());
  recipe.vocabulary.shared = true;
  EXPECT_FALSE(is_refused());
  folder.write("source.spm", "");
  recipe.vocabulary.from = folder.path("");
  EXPECT_TRUE(is_refused()) << "it is the folder that says";
  folder.write("shared.spm", "");
  recipe.vocabulary.shared = false;
  EXPECT_FALSE(is_refused());
  recipe.vocabulary.from = "";
  recipe.data.synthetic = Synthetic::copy;
  EXPECT_FALSE(is_refused());
}

}  // namespace
}  // namespace dragoman
