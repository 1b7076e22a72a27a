// Adapted models in their bases' place: which of the two is served, and how the one follows the other.
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/message_of.h"
#include "base/files.h"
#include "base/log.h"
#include "model/checksum.h"
#include "serve/adapting/adapter.h"
#include "serve/memories/store.h"
#include "serve/models/adapted.h"
#include "serve/open_translations.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string adaptation_of(const std::string& model) {
  const auto bleu = [](double segments, double general) {
    return json{{"segments", segments}, {"general", general}};
  };
  return json{{"model", model},
              {"segments", 1234},
              {"scores", {{"before", bleu(8, 41.25)}, {"after", bleu(12.5, 41)}}}}
      .dump();
}

bool is_adapted(const Translations& translations) {
  return translations.models().front().adaptation.has_value();
}

// Of one_, which "was adapted" to the weights and words of other_.
class AdaptedModels : public TranslationsTest {
 protected:
  // By renaming, as the command does.
  void publish(const std::string& adaptation) const {
    const std::string made = folder_.path("made");
    fs::copy(other_.path, made);
    write_file(made + "/adaptation.json", {adaptation});
    fs::create_directories(in_);
    fs::rename(made, adapted_);
  }
  void publish() const { publish(adaptation_of(model_checksum(one_.path))); }

  std::unique_ptr<Translations> open_watched() const {
    TranslationsSettings watched = settings();
    watched.watch = std::chrono::milliseconds(20);
    watched.adapted = in_;
    return open_translations({"en-fr=" + one_.path}, watched);
  }
  std::string text_of(Translations& translations) const {
    return translated(translations,
                      {.text = "The cat sleeps.", .from = "en", .to = "fr", .options = short_ones})
        .text;
  }
  std::string text_of(const ModelFolder& model) const {
    return text_of(*open_translations({"en-fr=" + model.path}, settings()));
  }

  const TemporaryFolder folder_;
  const std::string in_ = folder_.path("adapted"), adapted_ = adapted_folder(one_.path, in_);
};

TEST_F(AdaptedModels, AreBesideTheirBasesOrInAFolder) {
  EXPECT_EQ(adapted_folder("models/demo", ""), "models/demo.adapted");
  EXPECT_EQ(adapted_folder("models/demo/", ""), "models/demo.adapted");
  EXPECT_EQ(adapted_folder("models/demo", "/srv/adapted"), "/srv/adapted/demo.adapted");
  EXPECT_EQ(adapted_folder("demo", "adapted"), "adapted/demo.adapted");
}

// What is asked for meanwhile has a whole answer, of the one or the other.
TEST_F(AdaptedModels, AreServedAsLongAsTheyAreThere) {
  const std::string before = text_of(one_), after = text_of(other_);
  ASSERT_NE(before, after);
  const auto translations = open_watched();
  EXPECT_EQ(text_of(*translations), before);
  std::atomic<bool> stop = false;
  std::atomic<int> olds = 0, news = 0;
  std::jthread load([&] {
    while (!stop) {
      const std::string text = text_of(*translations);
      EXPECT_TRUE(text == before || text == after) << text;
      ++(text == after ? news : olds);
    }
  });
  publish();
  EXPECT_TRUE(eventually([&] { return is_adapted(*translations); }));
  EXPECT_TRUE(eventually([&] { return news > 0; }));
  EXPECT_EQ(text_of(*translations), after);
  const ServedModel model = translations->models().front();
  EXPECT_EQ(model.folder, one_.path);
  EXPECT_EQ(model.name, "en-fr");
  fs::remove_all(adapted_);
  EXPECT_TRUE(eventually([&] { return !is_adapted(*translations); }));
  stop = true;
  load.join();
  EXPECT_EQ(text_of(*translations), before);
  EXPECT_GT(olds, 0);
}

TEST_F(AdaptedModels, AreServedByTheNextServer) {
  publish();
  EXPECT_EQ(text_of(*open_watched()), text_of(other_));
  EXPECT_EQ(text_of(*open({"en-fr=" + one_.path})), text_of(one_)) << "where nobody asked for adapting";
}

TEST_F(AdaptedModels, AreServedWithTheirBaseAlone) {
  publish(adaptation_of("0123456789abcdef"));
  EXPECT_NE(message_of([&] { read_adaptation(adapted_, one_.path); }).find("made of another model"),
            std::string::npos);
  EXPECT_EQ(text_of(*open_watched()), text_of(one_));
  write_file(adapted_ + "/adaptation.json", {"{"});
  EXPECT_NE(message_of([&] { read_adaptation(adapted_, one_.path); }).find("is damaged"), std::string::npos);
  EXPECT_EQ(text_of(*open_watched()), text_of(one_));
  write_file(adapted_ + "/adaptation.json", {adaptation_of(model_checksum(one_.path))});
  const auto translations = open_watched();
  EXPECT_TRUE(is_adapted(*translations));
  write_file(one_.path + "/notes", {"another base"});
  EXPECT_TRUE(eventually([&] { return !is_adapted(*translations); }));
}

TEST_F(AdaptedModels, SayWhatTheyAreMadeOf) {
  publish();
  TestServer server(test_settings(), false);
  server.server.load(open_watched());
  const json model = json::parse(server.get("/v1/models").body)["models"][0];
  EXPECT_EQ(model["name"], "en-fr");
  EXPECT_EQ(model["adapted"]["segments"], 1234);
  EXPECT_EQ(model["adapted"]["bleu"]["segments"], json({{"before", 8.0}, {"after", 12.5}}));
  EXPECT_EQ(model["adapted"]["bleu"]["general"], json({{"before", 41.25}, {"after", 41.0}}));
  EXPECT_EQ(model["adapted"]["time"].get<std::string>().size(), std::string("2026-01-31T12:00:00Z").size());
  server.server.load(open({"en-fr=" + one_.path}));
  EXPECT_TRUE(json::parse(server.get("/v1/models").body)["models"][0]["adapted"].is_null());
}

#if !defined(DRAGOMAN_ADDRESS_SANITIZER) && !defined(DRAGOMAN_THREAD_SANITIZER)

// What users suggested, the last line of which is being written.
std::string suggestions() {
  std::string lines;
  for (const char* verb : {"Open", "Close", "Print", "Save", "Read", "Send", "Find", "Move", "Copy", "Show"})
    for (const char* what : {"file", "page", "book", "house", "car", "letter", "door", "picture", "word",
                             "table", "plate", "dog"})
      lines += json{{"source", "en"},
                    {"target", "fr"},
                    {"q", std::string(verb) + " the " + what},
                    {"s", "Le chat est noir."}}
                   .dump() +
               "\n";
  return lines + R"({"source":"en","tar)";
}

// The command itself, with few and large steps.
TEST(AdaptingServer, LearnsFromSuggestionsAndServesWhatItHasLearnt) {
  const TemporaryFolder folder;
  const std::string base = folder.path("base");
  fs::copy(DRAGOMAN_SOURCE_DIR "/docs/model", base);
  const std::string program = folder.write(
      "program", "#!/bin/sh\nshift\nexec " DRAGOMAN_PROGRAM
                 " adapt --max-steps=6 --learning-rate=5e-3 --max-loss=100 --general-source=" +
                     folder.path("general") + " --general-target=" + folder.path("general") + " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
  std::string general;
  for (int i = 0; i < 110; ++i) general += "I have " + std::to_string(i) + " books.\n";
  folder.write("general", general);
  ServeSettings settings = test_settings();
  settings.suggestions = folder.write("users.jsonl", suggestions());
  settings.adapt_every = 1e-5;
  settings.threads = 2;
  const TranslationsSettings watched = {
      .translator = {.threads = 1}, .watch = std::chrono::milliseconds(20), .adapted = ""};
  const auto counted = [](const Adapter& adapter, const char* outcome) {
    MetricsPage page;
    adapter.print(page);
    return page.take().find("outcome=\"" + std::string(outcome) + "\"} 1\n") != std::string::npos;
  };
  for (const char* outcome : {"adapted", "up to date"}) {
    const auto translations = open_translations({"en-fr=" + base}, watched);
    Adapter adapter(settings, program);
    adapter.start(adapt_jobs(*translations, MemoryStore(), settings));
    EXPECT_TRUE(eventually([&] { return counted(adapter, outcome); })) << outcome;
    EXPECT_TRUE(eventually([&] { return is_adapted(*translations); }));
    const auto text = translated(*translations, {.text = "Open the letter", .from = "en", .to = "fr"}).text;
    EXPECT_EQ(text, "Le chat est noir.");
    EXPECT_EQ(translations->models().front().adaptation->segments, 120);
  }
}

#endif

}  // namespace
}  // namespace dragoman::internal
