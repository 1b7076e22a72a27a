// tools/experiments/ and tools/speedrun, each on a small corpus for a few steps.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "temporary_folder.h"
#include "text/toy_text.h"
#include "train/history.h"

namespace dragoman::internal {
namespace {

class Experiments : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import tomllib' 2>/dev/null") != 0) GTEST_SKIP() << "needs Python 3.11";
    const ToyText text = toy_text(200);
    std::string tsv;
    for (size_t i = 0; i < text.source_lines.size(); ++i)
      tsv += text.source_lines[i] + "\t" + text.target_lines[i] + "\n";
    corpus_ = folder_.write("toy.tsv", tsv);
  }

  // Runs a program of tools/ on a recipe of this corpus. What it prints.
  std::string run_tool(const std::string& name, const std::string& data, const std::string& arguments) {
    const std::string recipe = folder_.write(
        "toy.toml",
        "[data]\n" + data + "hold_out = 10\n[vocabulary]\nsize = 60\n" +
            "[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nheads = 2\nd_ff = 32\n"
            "[training]\nbatch_tokens = 60\nthreads = 1\n");
    const std::string command = "DRAGOMAN=" DRAGOMAN_PROGRAM " " DRAGOMAN_SOURCE_DIR "/tools/" + name + " " +
                                recipe + arguments + " --out " + out() + " >" + out() + ".txt 2>" + out() +
                                ".log";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0) << command << "\n"
                                                               << read_file(out() + ".log");
    return read_file(out() + ".txt");
  }
  std::string run(const std::string& name, const std::string& data, const std::string& arguments = "",
                  const std::string& page = "/report.html") {
    const std::string printed = run_tool("experiments/" + name, data, arguments + " --training.max_steps 5");
    EXPECT_TRUE(std::filesystem::exists(out() + page));
    return printed;
  }
  std::string run(const std::string& name) { return run(name, data()); }
  std::string data() const { return "tsv = [\"" + corpus_ + "\"]\n"; }

  std::string out() const { return folder_.path("out"); }
  nlohmann::json recipe_of(const std::string& variant) const {
    return nlohmann::json::parse(read_file(out() + "/" + variant + "/config.json")).at("recipe");
  }

  TemporaryFolder folder_;
  std::string corpus_;
};

// With two seeds the curve of a variant is the mean of both.
TEST_F(Experiments, Compare) {
  const std::string table = run("compare", data(), " model.norm=pre,post --seeds 2", "");
  EXPECT_TRUE(table.starts_with("| norm | updates | loss | BLEU |\n|---|--:|--:|--:|\n")) << table;
  EXPECT_NE(table.find("\n| pre | 5 | "), table.npos) << table;
  EXPECT_NE(table.find("\n| post | 5 | "), table.npos) << table;
  EXPECT_EQ(table, read_file(out() + "/table.md"));
  EXPECT_NE(read_file(out() + "/curves.svg").find(">post<"), std::string::npos);
  double sum = 0;
  for (const char* seed : {"1", "2"}) {
    const std::string variant = std::string("seed-") + seed + "/post";
    EXPECT_EQ(recipe_of(variant).at("model").at("norm"), "post");
    EXPECT_EQ(recipe_of(variant).at("training").at("seed"), std::stoi(seed));
    sum += read_history(out() + "/" + variant + "/metrics.jsonl").validation.column("loss")->back();
  }
  EXPECT_NEAR(read_history(out() + "/mean/post/metrics.jsonl").validation.column("loss")->back(), sum / 2,
              1e-9);
}

TEST_F(Experiments, CompareSettingsThatChangeTogether) {
  const std::string table =
      run("compare", data(), " model.norm/model.dropout=usual:pre/0.1,paper:post/0.2", "");
  EXPECT_NE(table.find("\n| usual | 5 | "), table.npos) << table;
  EXPECT_EQ(recipe_of("seed-1/paper").at("model").at("norm"), "post");
  EXPECT_EQ(recipe_of("seed-1/paper").at("model").at("dropout"), 0.2);
  EXPECT_EQ(recipe_of("seed-1/usual").at("model").at("dropout"), 0.1);
}

// Runs take turns, each until it has been validated once more; what is finished is not trained again.
TEST_F(Experiments, Speedrun) {
  const std::string arguments = " post:model.norm=post --seeds 2 --minutes 0.02 --slice 0.01";
  const std::string table = run_tool("speedrun", data(), arguments);
  EXPECT_TRUE(
      table.starts_with("|  | BLEU at minute 0.01 | 0.02 | loss at the end | updates | tokens a second |\n"
                        "|---|--:|--:|--:|--:|--:|\n| recipe | "))
      << table;
  EXPECT_NE(table.find("\n| post | "), table.npos) << table;
  EXPECT_EQ(table, read_file(out() + "/table.md"));
  for (const std::string run : {"recipe-1", "recipe-2", "post-1", "post-2"}) {
    const History history = read_history(out() + "/" + run + "/metrics.jsonl");
    ASSERT_EQ(history.validation.size(), 2u) << run;
    EXPECT_GE(history.validation.seconds[0], 0.59);
    EXPECT_GE(history.validation.seconds[1], 1.19);
    EXPECT_TRUE(history.ended) << run;
    EXPECT_FALSE(history.marks.empty()) << run << " has not given way to another";
    EXPECT_EQ(recipe_of(run).at("model").at("norm"), run.starts_with("post") ? "post" : "pre");
    EXPECT_EQ(recipe_of(run).at("training").at("seed"), run.back() - '0');
  }
  std::istringstream runs(read_file(out() + "/runs.tsv"));
  std::string line;
  std::getline(runs, line);
  EXPECT_EQ(line,
            "recipe\tsettings\tseed\tmachine\tminutes\tupdates\ttokens\tloss at 0.01\tbleu at 0.01\t"
            "chrf at 0.01\tloss at 0.02\tbleu at 0.02\tchrf at 0.02");
  int count = 0;
  for (; std::getline(runs, line); ++count) EXPECT_EQ(std::ranges::count(line, '\t'), 12) << line;
  EXPECT_EQ(count, 4);
  EXPECT_EQ(run_tool("speedrun", data(), arguments), table);
}

TEST_F(Experiments, Padding) {
  const std::string printed = run("padding");
  std::istringstream table(printed);
  double shares[2] = {};
  for (std::string word; table >> word;) {
    if (word == "sorted") table >> shares[0];
    if (word == "unsorted") table >> shares[1];
  }
  EXPECT_LT(shares[0], shares[1]);
  EXPECT_GT(shares[0], 0);
  EXPECT_EQ(recipe_of("unsorted")["data"]["sort_by_length"], false);
  EXPECT_EQ(run("padding"), printed) << "a finished experiment is drawn again";
}

TEST_F(Experiments, SourcesAreSplitByLength) {
  run("sources");
  EXPECT_EQ(recipe_of("mixed")["data"]["order"], "mixed");
  EXPECT_EQ(recipe_of("consecutive")["data"]["order"], "consecutive");
  EXPECT_EQ(recipe_of("mixed")["data"]["tsv"], recipe_of("consecutive")["data"]["tsv"]);
  size_t longest = 0, shortest = SIZE_MAX;
  std::multiset<std::string> split, whole;
  for (const std::string file : {"1", "2", "3", "4"}) {
    std::istringstream lines(read_file(out() + "/sources/" + file + ".tsv"));
    size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      split.insert(line);
      if (file == "1") longest = std::max(longest, line.size());
      if (file != "1") shortest = std::min(shortest, line.size());
    }
    EXPECT_NEAR(static_cast<double>(count), 50, 10) << file;
  }
  EXPECT_LT(longest, shortest);
  std::istringstream lines(read_file(corpus_));
  for (std::string line; std::getline(lines, line);) whole.insert(line);
  EXPECT_EQ(split, whole);
}

TEST_F(Experiments, SourcesOfARecipeStayAsTheyAre) {
  const std::string other = folder_.write("other.tsv", read_file(corpus_));
  run("sources", "tsv = [\"" + corpus_ + "\", \"" + other + "\"]\n");
  EXPECT_EQ(recipe_of("mixed")["data"]["tsv"], (std::vector<std::string>{corpus_, other}));
  EXPECT_FALSE(std::filesystem::exists(out() + "/sources"));
}

}  // namespace
}  // namespace dragoman::internal
