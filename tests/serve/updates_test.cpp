// Updates of a served model, one of which a request names.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stop_token>

#include "api/message_of.h"
#include "base/files.h"
#include "model/folder.h"
#include "model/weights_file.h"
#include "serve/open_translations.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class UpdatesOfModels : public TranslationsTest {
 protected:
  // Of one_, with other biases and norms.
  void publish(const std::string& name, uint64_t key) const {
    const std::string folder = folder_.path("updates/" + name);
    fs::create_directories(folder);
    for (const char* file : {"config.json", "shared.spm"})
      fs::copy_file(one_.path + "/" + file, folder + "/" + file, fs::copy_options::overwrite_existing);
    std::vector<std::vector<float>> values;
    std::vector<TensorEntry> entries = SafetensorsFile::open(weights_path(one_.path)).entries();
    std::erase_if(entries, [](const TensorEntry& entry) { return entry.shape.size() > 1; });
    for (TensorEntry& entry : entries) {
      values.push_back(random_floats(entry.shape[0], key + values.size()));
      entry.bytes = std::as_bytes(std::span(values.back()));
    }
    write_safetensors(weights_path(folder), update_metadata(folder, one_.path), entries);
  }

  std::unique_ptr<Translations> open_with_updates(size_t loaded = 2) const {
    TranslationsSettings with = settings();
    with.updates = folder_.path("updates");
    with.loaded_updates = loaded;
    return open_translations({"en-fr=" + one_.path}, with);
  }
  TextWork work(const std::string& update) const {
    return {.text = "The cat sleeps.", .from = "en", .to = "fr", .options = short_ones, .update = update};
  }
  std::string text_of(Translations& translations, const std::string& update) const {
    return translated(translations, work(update)).text;
  }
  // By a server that knows of no updates.
  std::string text_of_folder(const std::string& folder) {
    const auto translations = open({"en-fr=" + folder});
    return text_of(*translations, "");
  }
  std::string error_of(Translations& translations, const std::string& update) const {
    return message_of([&] { text_of(translations, update); });
  }

  const TemporaryFolder folder_;
};

TEST_F(UpdatesOfModels, TranslateWhereARequestNamesThem) {
  publish("alice", 1);
  publish("bob", 100);
  const std::string plain = text_of_folder(one_.path), alice = text_of_folder(folder_.path("updates/alice")),
                    bob = text_of_folder(folder_.path("updates/bob"));
  ASSERT_NE(plain, alice);
  ASSERT_NE(alice, bob);
  const auto translations = open_with_updates(/*loaded=*/1);
  EXPECT_EQ(translations->updates(), (std::vector<std::string>{"alice", "bob"}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(text_of(*translations, ""), plain);
    EXPECT_EQ(text_of(*translations, "alice"), alice);
    EXPECT_EQ(text_of(*translations, "bob"), bob);
  }
  TextWork document = work("bob");
  document.format = "html";
  EXPECT_EQ(translated(*translations, document).text, bob);
}

TEST_F(UpdatesOfModels, AreListedBesideWhatCannotBeRead) {
  publish("alice", 1);
  fs::create_symlink("loop", folder_.path("updates/loop"));
  EXPECT_EQ(open_with_updates()->updates(), std::vector<std::string>{"alice"});
}

TEST_F(UpdatesOfModels, AreLoadedAgainWhenTheyHaveChanged) {
  publish("alice", 1);
  const auto translations = open_with_updates();
  const std::string before = text_of(*translations, "alice");
  publish("alice", 100);
  EXPECT_EQ(text_of(*translations, "alice"), text_of_folder(folder_.path("updates/alice")));
  EXPECT_NE(text_of(*translations, "alice"), before);
  publish("bob", 50);
  EXPECT_EQ(text_of(*translations, "bob"), text_of_folder(folder_.path("updates/bob")));
}

TEST_F(UpdatesOfModels, OfABaseThatHasChangedAreNoLongerServed) {
  publish("alice", 1);
  const auto translations = open_with_updates();
  text_of(*translations, "alice");
  fs::remove_all(one_.path);
  fs::copy(other_.path, one_.path);
  EXPECT_NE(error_of(*translations, "alice"), "");
}

TEST_F(UpdatesOfModels, ThatNobodyWaitsForAreNotLoaded) {
  publish("alice", 1);
  const auto translations = open_with_updates();
  std::ofstream(weights_path(folder_.path("updates/alice")), std::ios::trunc);
  TextWork gone = work("alice"), late = gone;
  std::stop_source stop;
  stop.request_stop();
  gone.stop = stop.get_token();
  late.deadline = std::chrono::steady_clock::now();
  EXPECT_NE(message_of([&] { translated(*translations, gone); }).find("cancelled"), std::string::npos);
  EXPECT_NE(message_of([&] { translated(*translations, late); }).find("timeout"), std::string::npos);
}

TEST_F(UpdatesOfModels, ThatCannotBeUsedAreRefused) {
  publish("alice", 1);
  fs::copy(one_.path, folder_.path("updates/whole"));
  for (const char* elsewhere : {"updates/.hidden", "beside"})
    fs::copy(folder_.path("updates/alice"), folder_.path(elsewhere));
  const auto translations = open_with_updates();
  for (const char* name : {"carol", "..", "../beside", "alice/../alice", ".hidden"})
    EXPECT_NE(error_of(*translations, name).find("there is no update"), std::string::npos) << name;
  EXPECT_NE(error_of(*translations, "whole").find("is a whole model"), std::string::npos);
  EXPECT_NE(error_of(*open({"en-fr=" + one_.path}), "alice").find("has no updates"), std::string::npos);

  TranslationsSettings of_other = settings();
  of_other.updates = folder_.path("updates");
  const auto other = open_translations({"en-fr=" + other_.path}, of_other);
  EXPECT_NE(error_of(*other, "alice").find("is of another model"), std::string::npos);
  of_other.updates = folder_.path("nowhere");
  EXPECT_NE(
      message_of([&] { open_translations({"en-fr=" + other_.path}, of_other); }).find("there is no such"),
      std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
