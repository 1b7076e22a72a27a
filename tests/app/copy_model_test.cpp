// A model of generated symbols, from training to translating.
#include "app/translating_commands.h"
#include "base/json.h"

namespace dragoman::internal {
namespace {

class CopyModel : public TranslatingCommands {
 protected:
  std::string train(const std::string& more = "") {
    write("copy.toml", R"(
      [data]
      synthetic = "copy"
      symbols = 8
      length = 6
      sentences = 32
      batches = 100
      [model]
      encoder_layers = 1
      decoder_layers = 1
      d_model = 32
      heads = 2
      d_ff = 64
      dropout = 0
      attention_dropout = 0
      embedding_dropout = 0
      [training]
      schedule = "cosine"
      learning_rate = 5e-3
      warmup = 50
      label_smoothing = 0
      max_steps = 400
      )");
    return run("train " + file("copy.toml") + " --out " + model_ + " " + more);
  }

  const std::string model_ = file("copy");
};

TEST_F(CopyModel, CopiesWhatItIsGiven) {
  EXPECT_EQ(train(), "source   1 2 3 4 5 6\ndecoded  1 2 3 4 5 6\n");
  const std::string input = "1 2 3 4 5 6\n1 7 7 2 5 3\n\n1 1 1 1 1 4\n7\n";
  for (const char* how : {"--beam 1", "--beam 4", "--precision int8"})
    EXPECT_EQ(run("translate --model " + model_ + " " + how, input), input) << how;
  EXPECT_EQ(run("translate --model " + model_ + " --prefix " + write("prefix", "1 2 3\n"), "1 2 3 4 5 6\n"),
            "1 2 3 4 5 6\n");
  EXPECT_EQ(run("info --verify " + model_).find("damaged"), std::string::npos);
  EXPECT_NE(train().find("decoded  1 2 3 4 5 6"), std::string::npos) << "a run that is done";
}

TEST_F(CopyModel, SaysWhatIsCut) {
  train();
  const std::string lines =
      run("translate --model " + model_ + " --max-length 3 --format json", "1 2 3 4 5 6\n1 2 3 4\n");
  std::vector<bool> cut;
  for (const std::string& line : lines_of(lines))
    cut.push_back(parse_json(line).dump().find("\"cut\"") != line.npos);
  EXPECT_EQ(cut, (std::vector<bool>{true, false})) << lines;
}

TEST_F(CopyModel, ScoresEverySymbolAndNoEnd) {
  train();
  const auto scores =
      lines_of(run("score --model " + model_ + " --source " + write("source", "1 2 3 4 5 6\n\n") +
                   " --target " + write("target", "1 2 3 4 5 6\n1 3\n")));
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_GT(std::stod(scores[0]), -0.5);
  const auto inspected = parse_json(run("inspect --model " + model_ + " --format json --text '1 2 3 4 5 6'"));
  const auto& sentence = inspected.at("sentences").at(0);
  EXPECT_EQ(sentence.at("target"), "1 2 3 4 5 6");
  EXPECT_EQ(sentence.at("read_tokens").size(), 5U);
  EXPECT_EQ(sentence.at("log_probabilities").size(), 5U);
  double sum = 0;
  for (const double one : sentence.at("log_probabilities")) sum += one;
  EXPECT_NEAR(sum, std::stod(scores[0]), 1e-3);
}

// A rate that rises without end ruins what was learned.
TEST_F(CopyModel, TheExampleIsOfTheModelThatIsKept) {
  EXPECT_EQ(train("--training.schedule noam --training.factor 2000 --training.warmup 20000 "
                  "--training.max_steps 600"),
            "source   1 2 3 4 5 6\ndecoded  1 2 3 4 5 6\n");
}

}  // namespace
}  // namespace dragoman::internal
