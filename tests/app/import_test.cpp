// dragoman import, as a user calls it: the folder that it makes works with the other commands.
#include "app/translating_commands.h"
#include "base/files.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class ImportTest : public TranslatingCommands {
 protected:
  const std::string source_ = std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/huggingface/joint";
  const TemporaryFolder temporary_;
  const std::string out_ = temporary_.path("imported");
};

TEST_F(ImportTest, WhatItMakesTranslates) {
  const std::string said =
      run("import " + source_ + " --out " + out_ + " --check '>>fra<< the cat sees a dog .'");
  EXPECT_TRUE(
      said.starts_with("source       >>fra<< the cat sees a dog .\ntranslation  la chatte voit une chienne"))
      << said;
  EXPECT_NE(errors_.find("positions: halves, from 0"), std::string::npos) << errors_;
  EXPECT_NE(errors_.find("begins with <pad>"), std::string::npos) << errors_;
  const std::string translated = run("translate --model " + out_, ">>fra<< the cat sees a dog .\n");
  EXPECT_NE(said.find("translation  " + translated), std::string::npos) << translated;
  EXPECT_NE(run("info " + out_).find("imported_from           Hugging Face Marian"), std::string::npos);
  EXPECT_EQ(run("info --verify " + out_).find("damaged"), std::string::npos);
  run("quantize --model " + out_ + " --out " + temporary_.path("int8"));
  EXPECT_EQ(run("translate --model " + temporary_.path("int8"), ">>fra<< the cat sees a dog .\n"),
            translated);
}

TEST_F(ImportTest, IntegersStayUnlessFloatsAreAskedFor) {
  const std::string source =
      std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/ctranslate2/trained/int8";
  run("import " + source + " --out " + out_);
  EXPECT_NE(errors_.find("begins with a vector of zeros"), std::string::npos) << errors_;
  EXPECT_NE(run("info " + out_).find("int8"), std::string::npos);
  run("import " + source + " --out " + temporary_.path("floats") + " --precision fp32");
  EXPECT_EQ(run("info " + temporary_.path("floats")).find("int8"), std::string::npos);
  const std::string line = ">>fra<< the cat sees a dog .\n", text = "une chatte voit une chiene aime .\n";
  EXPECT_EQ(run("translate --model " + out_, line), text);
  EXPECT_EQ(run("translate --model " + temporary_.path("floats"), line), text);
}

// Rounded while they are read, without a folder of floats between.
TEST_F(ImportTest, FloatsBecomeFewerBitsAsByQuantize) {
  const std::string floats = temporary_.path("floats");
  run("import " + source_ + " --out " + floats + " --check ''");
  for (const std::string precision : {"int8", "bf16"}) {
    const std::string out = temporary_.path("at-once-" + precision),
                      later = temporary_.path("later-" + precision);
    run("import " + source_ + " --out " + out + " --check '' --precision " + precision);
    run("quantize --model " + floats + " --out " + later + " --precision " + precision);
    EXPECT_EQ(read_file(out + "/model.safetensors"), read_file(later + "/model.safetensors")) << precision;
  }
}

TEST_F(ImportTest, TheSentenceToCheckIsInTheSourcesLanguage) {
  const TemporaryFolder copy;
  std::filesystem::copy(source_, copy.path("model"));
  const auto import_from = [&](const std::string& language, const std::string& flags) {
    copy.write("model/tokenizer_config.json", "{\"source_lang\": " + language + "}");
    return run("import " + copy.path("model") + " --out " +
               temporary_.path("checked" + language.substr(1, 3)) + flags);
  };
  EXPECT_TRUE(import_from("\"deu\"", "").starts_with("source       Das ist ein Test.\n"));
  EXPECT_TRUE(import_from("\"gem\"", "").starts_with("source       This is a test.\n"));
  EXPECT_TRUE(import_from("null", "").starts_with("source       This is a test.\n"));
  EXPECT_EQ(import_from("\"fra\"", " --check ''"), "");
}

TEST_F(ImportTest, WhatIsExportedIsImportedAgain) {
  run("import " + source_ + " --out " + out_);
  for (const std::string format : {"ctranslate2", "huggingface"}) {
    run("export --model " + out_ + " --format " + format + " --out " + temporary_.path(format));
    run("import " + temporary_.path(format) + " --out " + temporary_.path(format + "-again"));
    EXPECT_EQ(run("translate --beam 1 --model " + temporary_.path(format + "-again"),
                  ">>fra<< the cat sees a dog .\n"),
              run("translate --beam 1 --model " + out_, ">>fra<< the cat sees a dog .\n"));
  }
}

// A Firefox model: SSRU, 8 bits, a shortlist, compressed files.
TEST_F(ImportTest, AFirefoxModelWorksWithTheOtherCommands) {
  const std::string models = std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/marian_models/";
  const std::string line = "the old cat\n", translation = "la chatte vieille et\n";
  run("import " + models + "bergamot --out " + out_ + " --check ''");
  for (const char* said : {"SSRU", "lex.50.50.enfr.s2t.bin.gz", "beam 1"})
    EXPECT_NE(errors_.find(said), std::string::npos) << errors_;
  const std::string model = " --model " + out_;
  EXPECT_EQ(run("translate" + model + " --shortlist false", line), translation);
  EXPECT_EQ(run("translate" + model + " --shortlist false --beam 4 --nbest 1", line), translation);
  EXPECT_NE(run("translate" + model, line), "");
  const std::string source = write("source.txt", line), target = write("target.txt", translation);
  EXPECT_NE(run("score" + model + " --source " + source + " --target " + target), "");
  EXPECT_NE(run("info " + out_).find("\"ssru\""), std::string::npos);
  EXPECT_EQ(run("info --verify " + out_).find("damaged"), std::string::npos);
  run("quantize" + model + " --out " + temporary_.path("int8"));
  EXPECT_EQ(run("translate --shortlist false --model " + temporary_.path("int8"), line), translation);
  const std::string inspect = "inspect" + model + " --shortlist false --text 'the old cat'";
  EXPECT_NE(run(inspect + " --format json --out -").find("\"decoder\":[]"), std::string::npos);
  run(inspect + " --format svg --attention all --out " + temporary_.path("figures"));
  EXPECT_NE(errors_.find("recurrent units"), std::string::npos) << errors_;
  run(inspect + " --format svg --attention decoder --layer 1 --out -", "", 1);
  EXPECT_NE(errors_.find("recurrent units"), std::string::npos) << errors_;
}

TEST_F(ImportTest, MarianModelsAreFoundByFolderOrFile) {
  const std::string models = std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/marian_models/";
  for (const char* source : {"opus", "tied/model.npz"}) {
    const std::string out = temporary_.path(std::string(source).substr(0, 4));
    const std::string said = run("import " + models + source + " --out " + out + " --check 'the old cat'");
    EXPECT_NE(said.find("translation  la chatte vieille"), std::string::npos) << said;
  }
}

TEST_F(ImportTest, MistakesAreOneSentence) {
  run("import " + source_, "", 2);
  EXPECT_NE(errors_.find("--out"), std::string::npos) << errors_;
  run("import " + source_ + " --out " + folder_.path, "", 2);
  EXPECT_NE(errors_.find("already holds a model"), std::string::npos) << errors_;
  run("import " + temporary_.path("") + " --out " + out_, "", 1);
  EXPECT_NE(errors_.find("is not a model in a known format"), std::string::npos) << errors_;
  temporary_.write("config.json", R"({"model_type": "bart"})");
  run("import " + temporary_.path("") + " --out " + out_, "", 1);
  EXPECT_NE(errors_.find("config.json: model_type is \"bart\", which cannot be imported"), std::string::npos)
      << errors_;
}

}  // namespace
}  // namespace dragoman::internal
