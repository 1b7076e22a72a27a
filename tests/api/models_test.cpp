// Model folders made of others: what a program needs in order to do without the commands.
#include "dragoman/models.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "search/model_folder.h"
#include "temporary_folder.h"

namespace dragoman {
namespace {

class ModelsTest : public testing::Test {
 protected:
  static std::vector<std::string> translations(const std::string& folder) {
    // What a folder knows of lengths is not exported.
    const Options options = {{"beam", 1}, {"max-length", 30}, {"max-length-ratio", 0.0}};
    Translator translator(folder, {.threads = 1});
    std::vector<std::string> texts;
    for (const Translation& translation : translator.translate(internal::known_lines(), options))
      texts.push_back(translation.text());
    return texts;
  }
  std::string path(const std::string& name) const { return new_.path(name); }

  const internal::ModelFolder one_{"models-one"},
      other_{"models-other", 40, true, {.size = 44, .shared = true}};
  const internal::TemporaryFolder new_;
};

TEST_F(ModelsTest, WhatIsExportedAndImportedTranslatesAsBefore) {
  const std::vector<std::string> wanted = translations(one_.path);
  export_model(one_.path, ExportFormat::ctranslate2, path("exported"));
  const ImportResult result = import_model({.source = path("exported"), .out = path("back")});
  EXPECT_EQ(result.system, "CTranslate2");
  EXPECT_FALSE(result.choices.empty());
  EXPECT_FALSE(result.needs_languages);
  EXPECT_EQ(translations(path("back")), wanted);
  EXPECT_NE(message_of([&] {
              export_model(one_.path, ExportFormat::huggingface, path("other"));
            }).find("model.norm"),
            std::string::npos);
}

TEST_F(ModelsTest, AreQuantizedOnce) {
  quantize(one_.path, Precision::int8, path("int8"));
  EXPECT_EQ(Translator(path("int8")).info().precision, "int8");
  EXPECT_EQ(Translator(one_.path).info().precision, "fp32");
  EXPECT_NE(
      message_of([&] { quantize(one_.path, Precision::int8, path("int8")); }).find("already holds a model"),
      std::string::npos);
  EXPECT_NE(message_of([&] { quantize(one_.path, Precision::fp32, path("fp32")); }).find("int8 or bf16"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("fp32")));
}

TEST_F(ModelsTest, TheAverageOfAModelAndItselfIsThatModel) {
  average({one_.path, one_.path}, path("same"));
  EXPECT_EQ(translations(path("same")), translations(one_.path));
  EXPECT_NE(message_of([&] {
              average({one_.path, other_.path}, path("mean"));
            }).find("different vocabularies"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { average_checkpoints(one_.path, 2, path("none")); }).find("0 regular checkpoints"),
      std::string::npos);
  EXPECT_THROW(average_checkpoints(one_.path, 0, path("none")), Error);
}

}  // namespace
}  // namespace dragoman
