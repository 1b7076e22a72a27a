// A model of many languages, as a user calls it: import, then --from and --to with every command.
#include "app/translating_commands.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

class LanguagesTest : public TranslatingCommands {
 protected:
  LanguagesTest() { run("import " + source_ + " --out " + model_ + " --from zul_Latn"); }

  std::string translated(const std::string& more, int exit_code = 0) {
    return run("translate --model " + model_ + " " + more, "the cat sees a dog .\n", exit_code);
  }

  const std::string source_ = std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/m2m/nllb";
  const TemporaryFolder temporary_;
  const std::string model_ = temporary_.path("imported"), pair_ = "--from eng_Latn --to fra_Latn";
};

TEST_F(LanguagesTest, TranslateScoreEvaluateAndInspectKnowThem) {
  const std::string text = translated(pair_);
  EXPECT_TRUE(text.starts_with("la ")) << text;
  EXPECT_EQ(translated(pair_ + " --batch 1"), text);
  EXPECT_NE(translated("--from eng_Latn --to eng_Latn"), text);

  const std::string lines = write("lines", "the cat sees a dog .\n"), output = write("output", text);
  const std::string files = " --source " + lines + " --target " + output;
  const double score = std::stod(run("score --model " + model_ + files + " " + pair_));
  EXPECT_GT(score, std::stod(run("score --model " + model_ + files + " --from eng_Latn --to eng_Latn")));
  const std::string evaluate = "evaluate --model " + model_ + " --source " + lines + " --reference " + output;
  EXPECT_NE(run(evaluate + " " + pair_), run(evaluate + " --from eng_Latn --to eng_Latn"));
  const std::string seen =
      run("inspect --model " + model_ + " --format json --text 'the cat sees a dog .' " + pair_);
  EXPECT_NE(seen.find(R"("read_tokens":["</s>","fra_Latn")"), std::string::npos) << seen.substr(0, 500);
  EXPECT_NE(seen.find(R"("source_tokens":["eng_Latn")"), std::string::npos);
}

TEST_F(LanguagesTest, MistakesAreOneSentence) {
  translated("--from eng_Latn", 2);
  EXPECT_NE(errors_.find("to is missing: this model has 4 languages, choose one of ace_Arab"),
            std::string::npos)
      << errors_;
  translated("--from eng_Latn --to fre_Latn", 2);
  EXPECT_NE(errors_.find("did you mean fra_Latn?"), std::string::npos) << errors_;
  run("translate --model " + folder_.path + " --to xx", "the\n", 2);
  EXPECT_NE(errors_.find("to is \"xx\", which is no language's code"), std::string::npos) << errors_;
  run("import " + source_ + " --out " + temporary_.path("other") + " --to french", "", 2);
  EXPECT_NE(errors_.find("to is \"french\""), std::string::npos) << errors_;
}

TEST_F(LanguagesTest, ImportSetsTheDefaultsAndInfoListsThem) {
  EXPECT_EQ(translated("--to fra_Latn"), translated("--from zul_Latn --to fra_Latn"));
  const std::string said = run("info " + model_);
  EXPECT_NE(said.find("languages               4: ace_Arab eng_Latn fra_Latn zul_Latn\n"), std::string::npos)
      << said;
  EXPECT_NE(said.find("\"zul_Latn\""), std::string::npos);
}

// What was trained for a pair translates that pair.
TEST_F(LanguagesTest, FineTuningIsForOnePair) {
  write("corpus.en", "the cat sees a dog .\nthe dog hears a bird .\n");
  write("corpus.fr", "la chatte voit une chienne .\nla chienne entend une poule .\n");
  const std::string recipe = write("recipe.toml", R"([data]
source = ["corpus.en"]
target = ["corpus.fr"]
valid_source = ["corpus.en"]
valid_target = ["corpus.fr"]
[vocabulary]
from = ")" + model_ + R"("
[model]
encoder_layers = 2
decoder_layers = 2
d_model = 16
heads = 4
d_ff = 32
decoder_heads = 2
decoder_d_ff = 24
norm_eps = 1e-5
positions = "tensor2tensor"
position_offset = 2
tied = "all"
[training]
max_steps = 2
batch_tokens = 100
)");
  const std::string train =
      "train " + recipe + " --init-from " + model_ + " --out " + temporary_.path("tuned");
  run("-h");
  const std::string in_folder = "cd " + folder_.path + " && ";
  const auto run_there = [&](const std::string& arguments) {
    const std::string command = in_folder + std::string(DRAGOMAN_PROGRAM) + " " + arguments + " >out 2>err";
    const int status = std::system(command.c_str());
    errors_ = read_file(file("err"));
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(run_there(train), 2);
  EXPECT_NE(errors_.find("data.from is missing"), std::string::npos) << errors_;
  EXPECT_EQ(run_there(train + " --data.from eng_Latn --data.to fra_Latn"), 0) << errors_;
  EXPECT_TRUE(
      run("translate --model " + temporary_.path("tuned"), "the cat sees a dog .\n").starts_with("la "));
  EXPECT_NE(read_file(temporary_.path("tuned/config.json")).find("\"penalty-form\": \"plain\""),
            std::string::npos)
      << "its search is the original's";
}

}  // namespace
}  // namespace dragoman::internal
