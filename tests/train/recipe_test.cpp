#include "train/recipe.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"
#include "data/corpora.h"
#include "text/vocabulary.h"

namespace dragoman::internal {
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

TEST(Recipe, AFormerKeyStillWorks) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  options.read_recipe("[training]\nlongest_silence = 20\n", "r.toml");
  EXPECT_EQ(recipe.training.heartbeat_timeout, 20);
  options.set_flag("training.longest_silence", "30");
  EXPECT_EQ(recipe.training.heartbeat_timeout, 30);
  EXPECT_THROW(options.read_recipe("[training]\nlongest_silence = 2\nheartbeat_timeout = 2\n", "r.toml"),
               UsageError);
}

TEST(Recipe, TheseOptionsMayChangeOnAResume) {
  Recipe recipe;
  Options options;
  declare(options, recipe);
  std::string keys;
  for (const Option& option : options.all()) {
    const bool whole_section = option.section == "validation" || option.section == "checkpoints";
    EXPECT_TRUE(option.may_change_on_resume || !whole_section) << option.key();
    if (option.may_change_on_resume && !whole_section) keys += option.key() + " ";
  }
  EXPECT_EQ(keys,
            "data.obtain data.sample training.average_last training.max_steps training.max_epochs "
            "training.max_minutes training.device training.threads training.heartbeat_timeout ");
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
  const auto by_match = [](Recipe& r) {
    r.validation.keep_best_by = KeepBestBy::exact_match, r.data.hold_out = 1;
  };
  EXPECT_EQ(refused(by_match), "validation.keep_best_by");
  EXPECT_EQ(refused([&](Recipe& r) { by_match(r), r.validation.metrics = {"exact_match"}; }), "");
  EXPECT_EQ(refused([&](Recipe& r) { r.validation.metrics = {"exact"}; }), "validation.metrics");
  const auto of_text = [](Recipe& r) { r.model.kind = ModelKind::language_model, r.data.text = {"t"}; };
  EXPECT_EQ(refused(of_text), "");
  EXPECT_EQ(refused([&](Recipe& r) { of_text(r), r.model.tied = Tied::all; }), "");
  EXPECT_EQ(refused([&](Recipe& r) { of_text(r), r.model.kind = ModelKind::translation; }), "data.text");
  EXPECT_EQ(refused([&](Recipe& r) { of_text(r), r.data.text = {}, r.data.tsv = {"t"}; }), "model.kind");
  EXPECT_EQ(refused([&](Recipe& r) { of_text(r), r.data.text = {}, r.data.synthetic = Synthetic::copy; }),
            "data.synthetic");
  EXPECT_EQ(refused([&](Recipe& r) { of_text(r), by_bleu(r), r.data.hold_out = 1; }),
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
  const auto learned = [](int64_t size) {
    const auto open = []() -> Sentences {
      return [lines = toy_text(50).source_lines, i = size_t{0}]() mutable -> std::optional<std::string_view> {
        return i < lines.size() ? std::optional<std::string_view>(lines[i++]) : std::nullopt;
      };
    };
    return std::make_shared<const Vocabulary>(learn_vocabulary({.size = size}, open, "source"));
  };
  const auto one = learned(40), equal = learned(40), other = learned(30);
  recipe.vocabulary.from = folder.path("");
  write_vocabularies(folder.path(""), {one, other});
  EXPECT_TRUE(is_refused()) << "it is the folder that says";
  recipe.vocabulary.shared = false;
  write_vocabularies(folder.path(""), {one, equal});
  EXPECT_FALSE(is_refused()) << "two files with the same tokens, as OPUS-MT has them";
  write_vocabularies(folder.path(""), {one, one});
  EXPECT_FALSE(is_refused());
  recipe.vocabulary.from = "";
  recipe.data.synthetic = Synthetic::copy;
  EXPECT_FALSE(is_refused());
}

}  // namespace
}  // namespace dragoman::internal
