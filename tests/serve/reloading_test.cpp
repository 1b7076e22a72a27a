// Models that are loaded again while they are in use.
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "base/error.h"
#include "base/log.h"
#include "search/saved_model.h"
#include "search/shortlist.h"
#include "serve/models/folder_watch.h"
#include "serve/open_translations.h"

namespace dragoman::internal {
namespace {

// New weights are taken, damaged ones are not, and nothing that is asked for meanwhile is lost.
TEST_F(TranslationsTest, AFolderThatChangesIsLoadedAnew) {
  TranslationsSettings watched = settings();
  watched.watch = std::chrono::milliseconds(0);
  const auto translations = open_translations({"en-fr=" + one_.path}, watched);
  const auto text_of = [&](Translations& some) {
    return translated(some, {.text = "The cat sleeps.", .from = "en", .to = "fr", .options = short_ones})
        .text;
  };
  const auto text_now = [&] { return text_of(*translations); };
  const std::string old = text_now(), fresh = text_of(*open({"en-fr=" + other_.path}));
  ASSERT_NE(fresh, old);
  std::atomic<bool> may_be_fresh{false}, stop{false};
  std::thread load([&] {
    while (!stop) {
      const std::string text = text_now();
      EXPECT_TRUE(text == old || (may_be_fresh && text == fresh)) << text;
    }
  });
  const auto model = [&] { return translations->models().front().translator; };
  const auto before = model();
  std::atomic<int> refusals{0};
  set_log_level(LogLevel::warning);
  set_log_sink([&](LogLevel, const std::string& line) {
    if (line.find("cannot be loaded again") != line.npos) ++refusals;
  });
  write_file(one_.path + "/config.json", {"{"});
  translations->reload();
  EXPECT_TRUE(eventually([&] { return refusals > 0; }));
  EXPECT_EQ(model(), before);
  set_log_sink({});
  set_log_level(LogLevel::off);
  may_be_fresh = true;
  for (const auto& file : std::filesystem::directory_iterator(other_.path))
    write_file(one_.path + "/" + file.path().filename().string(), {read_file(file.path().string())});
  translations->reload();
  EXPECT_TRUE(eventually([&] { return text_now() == fresh; }));
  EXPECT_NE(model(), before);
  stop = true;
  load.join();
  EXPECT_EQ(text_now(), fresh);
}

// What a request needs of a model was read when the model was opened, whatever happens to its folder since.
TEST_F(TranslationsTest, RequestsReadNothingOfTheFolder) {
  const SavedModel saved(one_.path, kernels_for("baseline"), 1);
  Lexicon lexicon;
  lexicon.translations.resize(static_cast<size_t>(saved.vocabularies.source->size()));
  for (int32_t id = 0; id < saved.vocabularies.target->size(); ++id) lexicon.frequent.push_back(id);
  write_shortlist(one_.path, lexicon, saved.vocabularies);
  TranslationsSettings unwatched = settings();
  unwatched.watch = std::chrono::milliseconds(0);
  const auto translations = open_translations({"en-fr=" + one_.path}, unwatched);
  write_file(one_.path + "/config.json", {"{"});
  write_file(one_.path + "/shortlist.safetensors", {"x"});
  TextWork work = {
      .text = "<p>The cat</p>", .format = "html", .from = "en", .to = "fr", .options = short_ones};
  work.options.emplace_back("shortlist", true);
  EXPECT_TRUE(translated(*translations, work).text.starts_with("<p>"));
  EXPECT_GT(translations->models().front().translator->info().parameters, 0);
}

TEST_F(TranslationsTest, EveryFileOfAFolderCounts) {
  const FolderState before = state_of(one_.path);
  EXPECT_EQ(before, state_of(one_.path));
  write_file(one_.path + "/metrics.jsonl", {"{}\n"});
  std::filesystem::create_directory(one_.path + "/checkpoints");
  EXPECT_EQ(before, state_of(one_.path));
  write_file(one_.path + "/shortlist.safetensors", {"x"});
  EXPECT_NE(before, state_of(one_.path));
  EXPECT_TRUE(state_of(one_.path + "/none").empty());
}

TEST_F(TranslationsTest, WhoAsksHasModelsLoadedThatHaveNotChanged) {
  TranslationsSettings unwatched = settings();
  unwatched.watch = std::chrono::milliseconds(0);
  const auto translations = open_translations({"en-fr=" + one_.path}, unwatched);
  const auto before = translations->models().front().translator;
  translations->reload();
  EXPECT_TRUE(eventually([&] { return translations->models().front().translator != before; }));
}

// It is opened once, not with every look at its folder.
TEST_F(TranslationsTest, AModelThatCannotBeUsedIsLeftAlone) {
  const std::string config = read_file(one_.path + "/config.json");
  const auto write_languages = [&](const std::string& from) {
    nlohmann::json with = nlohmann::json::parse(config);
    with["recipe"]["data"]["source"] = {"train." + from};
    with["recipe"]["data"]["target"] = {"train.fr"};
    write_file(one_.path + "/config.json", {with.dump()});
  };
  write_languages("de");
  TranslationsSettings watched = settings();
  watched.watch = std::chrono::milliseconds(20);
  std::atomic<int> refusals{0};
  set_log_level(LogLevel::warning);
  set_log_sink([&](LogLevel, const std::string& line) {
    if (line.find("the old models stay in use") != line.npos) ++refusals;
  });
  auto translations = open_translations({one_.path, "en-fr=" + other_.path}, watched);
  write_languages("en");
  EXPECT_TRUE(eventually([&] { return refusals > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(refusals, 1);
  EXPECT_EQ(translations->pairs().size(), 2u);
  translations.reset();
  set_log_sink({});
  set_log_level(LogLevel::off);
}

}  // namespace
}  // namespace dragoman::internal
