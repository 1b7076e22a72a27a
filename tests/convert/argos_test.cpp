// Packages of Argos Translate, which are made here: a zip archive of one folder with a CTranslate2 model.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/signals.h"
#include "convert/fixtures.h"
#include "convert/importers.h"
#include "convert/systems.h"
#include "convert/zip_of.h"
#include "model/folder.h"
#include "search/saved_model.h"
#include "search/translate_lines.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const fs::path trained = golden / "ctranslate2/trained";

// One .spm file serves both sides.
Members package(
    const std::string& metadata = R"({"from_code": "en", "to_code": "fr", "package_version": "1.9"})") {
  Members members = {{"en_fr/", ""},
                     {"en_fr/metadata.json", metadata},
                     {"en_fr/README.md", "a model"},
                     {"en_fr/sentencepiece.model", contents(trained / "source.spm")}};
  for (const char* name : {"config.json", "model.bin", "shared_vocabulary.json"})
    members.emplace_back(std::string("en_fr/model/") + name, contents(trained / "int8" / name));
  return members;
}

class Argos : public testing::Test {
 protected:
  std::string error(const Members& members) const {
    const std::string path = temporary_.write("package.argosmodel", zip_of(members));
    return error_of([&] { write_model_folder(import_argos({path}), temporary_.path("out")); });
  }

  const TemporaryFolder temporary_;
};

TEST_F(Argos, PackagesAreCTranslate2ModelsWithASearchOfTheirOwn) {
  const std::string path = temporary_.write("package.argosmodel", zip_of(package()));
  ASSERT_TRUE(is_argos(path));
  ASSERT_FALSE(is_ctranslate2(path));
  const ImportedModel imported = import_model({path});
  EXPECT_EQ(imported.system, "Argos Translate");
  write_model_folder(imported, temporary_.path("out"));
  SavedModel model(temporary_.path("out"), kernels_for("baseline"), 1);
  EXPECT_EQ(model.search.beam, 4);
  EXPECT_EQ(model.search.length_penalty, 0.2);
  EXPECT_TRUE(model.search.replace_unknown);
  EXPECT_TRUE(model.vocabularies.shared());
  const std::string alone = temporary_.path("alone"), spm = (trained / "source.spm").string();
  write_model_folder(import_ctranslate2({(trained / "int8").string(), {spm}}), alone);
  EXPECT_EQ(read_file(weights_path(temporary_.path("out"))), read_file(weights_path(alone)));
  EXPECT_EQ(read_file(temporary_.path("out/shared.spm")), read_file(alone + "/shared.spm"));
}

TEST_F(Argos, FoldersAreTheSame) {
  for (const auto& [name, bytes] : package()) {
    if (name.ends_with('/')) continue;
    fs::create_directories(fs::path(temporary_.path(name)).parent_path());
    temporary_.write(name, bytes);
  }
  write_model_folder(import_model({temporary_.path("en_fr")}), temporary_.path("of_folder"));
  EXPECT_EQ(error(package()), "");
  for (const char* name : {"model.safetensors", "shared.spm", "config.json"})
    EXPECT_EQ(read_file(temporary_.path("out/") + name), read_file(temporary_.path("of_folder/") + name))
        << name;
}

TEST_F(Argos, WhatIsNotSupportedIsNamed) {
  EXPECT_NE(error(package(R"({"target_prefix": "__fr__"})")).find("lacks the target prefix \"__fr__\""),
            std::string::npos);
  EXPECT_EQ(error(package(R"({"target_prefix": ""})")), "");
  Members with_bpe = package();
  with_bpe[3].first = "en_fr/bpe.model";
  EXPECT_NE(error(with_bpe).find("bpe.model"), std::string::npos);
  EXPECT_NE(error({package()[1]}).find("package.argosmodel"), std::string::npos);
}

// Every output begins with it, and no text shows it.
TEST_F(Argos, ATargetPrefixIsForced) {
  EXPECT_EQ(error(package(R"({"target_prefix": "▁voit"})")), "");
  SavedModel model(temporary_.path("out"), kernels_for("baseline"), 1);
  const Vocabulary& target = *model.vocabularies.target;
  EXPECT_EQ(target.forced_prefix(), std::vector{target.id("▁voit")});
  SearchOptions options = model.search;
  EXPECT_EQ(options.beam_ending, BeamEnding::early);
  const auto lines = translate_lines(model, {">>fra<< the cat sees a dog ."}, options);
  EXPECT_FALSE(lines[0].translations[0].text.starts_with("voit")) << lines[0].translations[0].text;
}

TEST_F(Argos, ErrorsNameTheArchive) {
  Members damaged = package();
  damaged[5].second.resize(1000);
  EXPECT_NE(error(damaged).find("package.argosmodel/en_fr/model/model.bin"), std::string::npos)
      << error(damaged);
}

TEST_F(Argos, NothingIsWrittenOutsideAndNoBombIsUnpacked) {
  for (const char* name :
       {"../model/evil", "/tmp/model/evil", "en_fr/model/../../../evil", "en_fr\\model/model/x"}) {
    Members members = package();
    members.emplace_back(name, "x");
    EXPECT_NE(error(members).find("outside"), std::string::npos) << name;
  }
  std::string bomb = zip_of(package());  // that claims to be larger
  const size_t at = bomb.rfind("en_fr/model/model.bin") - 46 + 24;
  bomb.replace(at, 4, little(uint32_t{0xf0000000}));
  const std::string path = temporary_.write("bomb.argosmodel", bomb);
  EXPECT_NE(error_of([&] { import_argos({path}); }).find("unpacks to more than"), std::string::npos);
}

[[noreturn]] void import_and_be_stopped(const std::string& path, const std::string& temporary) {
  setenv("TMPDIR", temporary.c_str(), 1);
  watch_signals();
  std::raise(SIGINT);
  try {
    import_argos({path});
  } catch (const Stopped& stopped) {
    _exit(stopped.signal);
  }
  _exit(0);
}

TEST_F(Argos, ASignalEndsUnpackingAndLeavesNothingBehind) {
  const std::string path = temporary_.write("package.argosmodel", zip_of(package())),
                    unpacked = temporary_.path("unpacked");
  fs::create_directory(unpacked);
  EXPECT_EXIT(import_and_be_stopped(path, unpacked), testing::ExitedWithCode(SIGINT), "");
  EXPECT_TRUE(fs::is_empty(unpacked));
}

TEST_F(Argos, DamageIsAnErrorOrAModel) {
  const std::string whole = zip_of(package());
  for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 150) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    const std::string path = temporary_.write("package.argosmodel", damaged);
    error_of([&] { import_argos({path}); });
    const std::string truncated = temporary_.write("package.argosmodel", whole.substr(0, at));
    EXPECT_NE(error_of([&] { import_argos({truncated}); }), "") << at;
  }
  for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("dragoman-import-")) << entry.path();
}

}  // namespace
}  // namespace dragoman::internal
