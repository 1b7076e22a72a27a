// dragoman new: whatever the corpus, a recipe that trains, and that fits it.
#include <filesystem>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/error.h"
#include "base/files.h"
#include "temporary_folder.h"
#include "train/recipe.h"

namespace dragoman::internal {
namespace {

class NewRecipe : public testing::Test {
 protected:
  // A corpus of this many pairs; what a sentence says depends on its number.
  using Sentence = std::function<std::string(int)>;
  void write_corpus(int pairs, const Sentence& source, const Sentence& target,
                    const std::string& name = "mine") const {
    std::string texts[2];
    for (int i = 0; i < pairs; ++i) {
      texts[0] += source(i) + "\n";
      texts[1] += target(i) + "\n";
    }
    (void)folder_.write(name + ".en", texts[0]);
    (void)folder_.write(name + ".de", texts[1]);
  }
  static std::string cat(int i) { return fmt::format("The cat number {} sleeps", i); }
  static std::string katze(int i) { return fmt::format("Die Katze Nummer {} schläft", i); }

  Recipe recipe_of(Arguments more = {}, const std::string& name = "mine") {
    const std::string out = folder_.path(fmt::format("{}.toml", ++recipes_));
    more.insert(more.end(), {"--source", folder_.path(name + ".en"), "--target", folder_.path(name + ".de"),
                             "--out", out});
    testing::internal::CaptureStdout();
    new_recipe(more);
    printed_ = testing::internal::GetCapturedStdout();
    Recipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe_file(out);
    options.check([&] { validate(recipe); });
    return recipe;
  }
  std::string refusal(const Arguments& arguments) {
    try {
      new_recipe(arguments);
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }

  const TemporaryFolder folder_;
  std::string printed_;
  int recipes_ = 0;
};

TEST_F(NewRecipe, SmallerCorporaGetSmallerModelsAndMoreDropout) {
  Recipe before;
  for (const int pairs : {1, 30, 3'000, 16'000, 61'000}) {
    write_corpus(pairs, cat, katze);
    const Recipe recipe = recipe_of();
    EXPECT_GT(recipe.data.hold_out, 0);
    EXPECT_LE(recipe.data.hold_out, std::max(1, pairs / 10));
    if (pairs > 1) {
      EXPECT_LE(recipe.model.dropout, before.model.dropout);
      EXPECT_GE(recipe.model.d_model * recipe.model.encoder_layers,
                before.model.d_model * before.model.encoder_layers);
      EXPECT_GE(recipe.vocabulary.size, before.vocabulary.size);
      EXPECT_GE(recipe.training.batch_tokens, before.training.batch_tokens);
    }
    before = recipe;
  }
  EXPECT_LT(before.model.dropout, 0.3);
  EXPECT_GE(before.model.d_model, 256);
}

// A GPU computes an update at once, and sooner.
TEST_F(NewRecipe, CountsWithAGpu) {
  if (std::string(DRAGOMAN_PLUGIN_TWIN).empty()) GTEST_SKIP() << "without CUDA's headers or Boost.Context";
  write_corpus(400'000, cat, katze);
  const auto written = [&] { return read_file(folder_.path(fmt::format("{}.toml", recipes_))); };
  setenv("DRAGOMAN_CUDA_PLUGIN", "/nowhere/plugin.so", 1);
  const Recipe on_cpu = recipe_of();
  EXPECT_GT(on_cpu.training.accumulate, 1);
  EXPECT_NE(written().find(" thread"), std::string::npos) << written();

  setenv("DRAGOMAN_CUDA_PLUGIN", DRAGOMAN_PLUGIN_TWIN, 1);
  const Recipe on_gpu = recipe_of();
  unsetenv("DRAGOMAN_CUDA_PLUGIN");
  EXPECT_EQ(on_gpu.training.accumulate, 1);
  EXPECT_EQ(on_gpu.training.batch_tokens, on_cpu.training.batch_tokens * on_cpu.training.accumulate);
  EXPECT_EQ(on_gpu.model.d_model, on_cpu.model.d_model);
  EXPECT_NE(written().find("minutes with the GPU"), std::string::npos) << written();
}

TEST_F(NewRecipe, KnowsLanguagesByTheFilesNames) {
  write_corpus(10, cat, katze);
  EXPECT_EQ(recipe_of().data.from, "en");
  EXPECT_EQ(recipe_of().data.to, "de");
  EXPECT_EQ(recipe_of({"--from", "en-GB"}).data.from, "en-GB");
  ASSERT_EQ(std::system(("gzip " + folder_.path("mine.en")).c_str()), 0);
  std::filesystem::copy(folder_.path("mine.de"), folder_.path("other.txt"));
  const std::string out = folder_.path("compressed.toml");
  testing::internal::CaptureStdout();
  new_recipe({"--source", folder_.path("mine.en.gz"), "--target", folder_.path("other.txt"), "--out", out});
  testing::internal::GetCapturedStdout();
  EXPECT_NE(read_file(out).find("from = \"en\""), std::string::npos) << read_file(out);
  EXPECT_EQ(read_file(out).find("\nto = "), std::string::npos) << "txt is no language here";
}

TEST_F(NewRecipe, SharesAVocabularyWithinAScript) {
  write_corpus(50, cat, katze);
  EXPECT_TRUE(recipe_of().vocabulary.shared);
  write_corpus(50, cat, [](int i) { return fmt::format("Кошка номер {} спит", i); });
  EXPECT_FALSE(recipe_of().vocabulary.shared);
}

TEST_F(NewRecipe, LeavesRoomForLongSentencesAndManyCharacters) {
  write_corpus(50, cat, katze);
  const Recipe usual = recipe_of();
  const auto longer = [](int i) {
    std::string text;
    for (int word = 0; word < 80; ++word) text += cat(i + word).substr(0, 9) + ' ';
    return text;
  };
  write_corpus(50, longer, longer);
  EXPECT_GT(recipe_of().data.max_length, 80 * 9 / 4);
  EXPECT_LT(usual.data.max_length, 80 * 9 / 4);
  const auto characters = [](int i) {
    std::string text;
    for (int c = 0; c < 60; ++c)
      text += fmt::format("{}{}{}", '\xE5', static_cast<char>(0x80 + i % 64), static_cast<char>(0x80 + c));
    return text;
  };
  write_corpus(64, cat, characters);
  EXPECT_GT(recipe_of().vocabulary.size, 64 * 60);
}

TEST_F(NewRecipe, HoldsNothingOutBesideValidationFiles) {
  write_corpus(50, cat, katze);
  write_corpus(5, cat, katze, "valid");
  const Recipe recipe =
      recipe_of({"--valid-source", folder_.path("valid.en"), "--valid-target", folder_.path("valid.de")});
  EXPECT_EQ(recipe.data.hold_out, 0);
  EXPECT_EQ(recipe.data.valid_source, std::vector{folder_.path("valid.en")});
  EXPECT_NE(printed_.find("dragoman evaluate --model models/1 --source"), std::string::npos) << printed_;
}

TEST_F(NewRecipe, SaysTheCommandsThatFollow) {
  write_corpus(50, cat, katze);
  recipe_of();
  for (const std::string& said :
       {"dragoman train " + folder_.path("1.toml") + "\n",
        std::string("echo \"The cat number 0 sleeps\" | dragoman translate --model models/1\n"),
        std::string("dragoman serve --model models/1\n")}) {
    EXPECT_NE(printed_.find(said), std::string::npos) << printed_;
  }
}

TEST_F(NewRecipe, SaysWhatIsMissing) {
  write_corpus(50, cat, katze);
  recipe_of();
  EXPECT_NE(printed_.find("So few pairs"), std::string::npos) << printed_;
  EXPECT_EQ(printed_.find("do not tell the languages"), std::string::npos) << printed_;
  write_corpus(3000, cat, katze);
  std::filesystem::copy(folder_.path("mine.de"), folder_.path("other.txt"));
  testing::internal::CaptureStdout();
  new_recipe({"--source", folder_.path("mine.en"), "--target", folder_.path("other.txt"), "--out",
              folder_.path("other.toml")});
  printed_ = testing::internal::GetCapturedStdout();
  EXPECT_EQ(printed_.find("So few pairs"), std::string::npos) << printed_;
  EXPECT_NE(printed_.find("do not tell the languages"), std::string::npos) << printed_;
}

TEST_F(NewRecipe, RefusesWhatItCannotWriteARecipeFor) {
  write_corpus(50, cat, katze);
  const std::string source = folder_.path("mine.en"), target = folder_.path("mine.de"),
                    old = folder_.write("old.toml", "mine"), out = folder_.path("new.toml");
  EXPECT_NE(refusal({"--source", source, "--target", target, "--out", old}).find("exists already"),
            std::string::npos);
  EXPECT_EQ(read_file(old), "mine");
  EXPECT_NE(refusal({"--source", source}).find("same number of files"), std::string::npos);
  EXPECT_NE(refusal({}).find("needs --source"), std::string::npos);
  EXPECT_NE(refusal({"--tsv", "-"}).find("needs --out FILE"), std::string::npos);
  EXPECT_NE(refusal({"--source", source, "--target", source, "--out", out}).find("both " + source),
            std::string::npos);
  EXPECT_NE(refusal({"--source", source, "--target", target, "--from", "?", "--out", out})
                .find("no language's code"),
            std::string::npos);
  (void)folder_.write("mine.de", "one\n");
  EXPECT_NE(refusal({"--source", source, "--target", target, "--out", out}).find(target), std::string::npos);
  (void)folder_.write("mine.en", "\n\n");
  (void)folder_.write("mine.de", "\n\n");
  EXPECT_NE(refusal({"--source", source, "--target", target, "--out", out})
                .find("no pair of sentences to learn from in " + source),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace dragoman::internal
