// Tasks other than translation: the data that tools/task_data makes, and the recipes that learn from them, with small
// models and for a few updates.
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "temporary_folder.h"
#include "text/toy_text.h"

namespace dragoman::internal {
namespace {

class Tasks : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import tomllib' 2>/dev/null") != 0) GTEST_SKIP() << "needs Python 3.11";
  }

  void run(const std::string& command) const {
    const int status = std::system((command + " >" + out("log") + " 2>&1").c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0) << command << "\n" << read_file(out("log"));
  }

  void make(const std::string& task, const std::string& more = "") const {
    run("python3 " DRAGOMAN_SOURCE_DIR "/tools/task_data " + task + " --out " + out(task) + " " + more);
  }

  // The values of a metric in all validations of a small run.
  std::vector<double> train(const std::string& task, const std::string& metric, int steps) const {
    const std::string data = out(task);
    run(DRAGOMAN_PROGRAM " train " DRAGOMAN_SOURCE_DIR "/recipes/" + task + ".toml --out " + out("model") +
        " --data.tsv " + data + "/train.tsv --data.valid_source " + data +
        "/valid.source --data.valid_target " + data +
        "/valid.target --vocabulary.size 60 --model.d_model 32 --model.d_ff 64 --model.encoder_layers 1"
        " --model.decoder_layers 1 --training.batch_tokens 400 --training.warmup 10 --training.ema 0"
        " --training.learning_rate 1e-2 --training.threads 1 --training.precision fp32 --validation.every " +
        std::to_string(steps / 4) + " --training.max_steps " + std::to_string(steps));
    std::vector<double> values;
    std::istringstream events(read_file(out("model/metrics.jsonl")));
    for (std::string line; std::getline(events, line);) {
      const auto event = nlohmann::json::parse(line);
      if (event.at("event") == "validation") values.push_back(event.at(metric));
    }
    return values;
  }

  std::string out(const std::string& name) const { return folder_.path(name); }

  // Inputs of a file with a column or two.
  std::vector<std::string> inputs(const std::string& name) const {
    std::vector<std::string> all;
    std::istringstream text(read_file(out(name)));
    for (std::string line; std::getline(text, line);) all.push_back(line.substr(0, line.find('\t')));
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(Tasks, TheDataAreTheSameAgainAndNothingIsInTwoFiles) {
  make("dates", "--limit 400");
  const std::string before = read_file(out("dates/train.tsv"));
  std::set<std::string> seen;
  for (const char* name : {"dates/train.tsv", "dates/valid.source", "dates/test.source"})
    for (const std::string& input : inputs(name)) EXPECT_TRUE(seen.insert(input).second) << input;
  EXPECT_GT(seen.size(), 500U);
  make("dates", "--limit 400");
  EXPECT_EQ(read_file(out("dates/train.tsv")), before);
  make("dates", "--limit 400 --seed 2");
  EXPECT_NE(read_file(out("dates/train.tsv")), before);
}

TEST_F(Tasks, SumsAreRight) {
  make("sums", "--limit 200");
  std::istringstream pairs(read_file(out("sums/train.tsv")));
  int a = 0, b = 0, sum = 0, count = 0;
  for (char sign = 0; pairs >> a >> sign >> b >> sum; ++count) EXPECT_EQ(sum, sign == '+' ? a + b : a - b);
  EXPECT_EQ(count, 200);
}

TEST_F(Tasks, PunctuationLosesCapitalsAndMarksButNoApostrophes) {
  folder_.write("text", "It's 5 o'clock, isn't it? \"Yes\" - 'so-so'.\nNo!\nOui.\nJa.\n");
  make("punctuation", "--text " + out("text"));
  std::vector<std::string> all;
  for (const char* name : {"train.tsv", "valid.source", "test.source"})
    for (const std::string& input : inputs("punctuation/" + std::string(name))) all.push_back(input);
  EXPECT_EQ(std::set(all.begin(), all.end()),
            (std::set<std::string>{"it's 5 o'clock isn't it yes so-so", "no", "oui", "ja"}));
}

TEST_F(Tasks, DatesAreLearned) {
  make("dates", "--limit 1000");
  const std::vector<double> loss = train("dates", "loss", 80);
  ASSERT_EQ(loss.size(), 4U);
  EXPECT_LT(loss.back(), 0.8 * loss.front());
}

TEST_F(Tasks, SumsAreLearned) {
  make("sums", "--limit 1000");
  const std::vector<double> loss = train("sums", "loss", 80);
  ASSERT_EQ(loss.size(), 4U);
  EXPECT_LT(loss.back(), 0.9 * loss.front());
}

TEST_F(Tasks, PunctuationIsLearned) {
  std::string text;
  for (const std::string& line : toy_text(400).source_lines) text += "Ka" + line + ".\n";
  folder_.write("text", text);
  make("punctuation", "--text " + out("text"));
  const std::vector<double> loss = train("punctuation", "loss", 80);
  ASSERT_EQ(loss.size(), 4U);
  EXPECT_LT(loss.back(), 0.8 * loss.front());
}

// One of three words for each line of a toy language.
TEST_F(Tasks, LanguagesAreLearned) {
  std::string pairs, source, target;
  for (const std::string& line : toy_text(300).source_lines) {
    pairs += line + "\tfr\n" + "the " + line + "\ten\n";
    source += line + "\n" + "the " + line + "\n";
    target += "fr\nen\n";
  }
  std::filesystem::create_directories(out("languages"));
  folder_.write("languages/train.tsv", pairs);
  folder_.write("languages/valid.source", source);
  folder_.write("languages/valid.target", target);
  EXPECT_GT(train("languages", "exact_match", 80).back(), 90);
}

// Each letter has its sound.
TEST_F(Tasks, PhonemesAreLearned) {
  std::string pairs, source, target;
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    std::string word, sounds;
    for (uint64_t letters = 2 + random.below(3); letters > 0; --letters) {
      const auto letter = static_cast<char>('a' + random.below(6));
      word += letter;
      sounds += (sounds.empty() ? "" : " ") + std::string{static_cast<char>(letter - 32), 'H'};
    }
    pairs += word + "\t" + sounds + "\n";
    if (i % 4 == 0) source += word + "\n", target += sounds + "\n";
  }
  std::filesystem::create_directories(out("phonemes"));
  folder_.write("phonemes/train.tsv", pairs);
  folder_.write("phonemes/valid.source", source);
  folder_.write("phonemes/valid.target", target);
  const std::vector<double> loss = train("phonemes", "loss", 160);
  ASSERT_EQ(loss.size(), 4U);
  EXPECT_LT(loss.back(), 0.8 * loss.front());
}

}  // namespace
}  // namespace dragoman::internal
