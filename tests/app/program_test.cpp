// The program as a user meets it: exit codes, and which stream says what.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/commands.h"
#include "base/files.h"

namespace dragoman::internal {
namespace {

struct Outcome {
  int exit_code;
  std::string output, errors;
};

Outcome run(const std::string& arguments) {
  const std::string out = testing::TempDir() + "out", err = testing::TempDir() + "err";
  const int status =
      std::system((std::string(DRAGOMAN_PROGRAM) + " " + arguments + " >" + out + " 2>" + err).c_str());
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
  std::remove(out.c_str());
  std::remove(err.c_str());
  return outcome;
}

std::string error_of(const std::string& arguments, int exit_code) {
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.exit_code, exit_code) << arguments;
  EXPECT_EQ(outcome.output, "") << arguments;
  return outcome.errors;
}

const std::string copy_recipe = DRAGOMAN_SOURCE_DIR "/recipes/copy.toml";

TEST(Program, HelpAndVersionGoToStandardOutput) {
  for (const char* arguments : {"--help", "--version", "train --help", "train -h"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments;
    EXPECT_EQ(outcome.errors, "") << arguments;
    std::istringstream lines(outcome.output);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
  EXPECT_NE(run("--help").output.find("  train "), std::string::npos);
  EXPECT_NE(run("train --help").output.find("--model.d_model N"), std::string::npos);
  EXPECT_EQ(run("help train").output, run("train --help").output);
}

// Without a plug-in for GPUs: a named one that is not there makes any machine such a one.
class WithoutAGpu : public testing::Test {
 protected:
  WithoutAGpu() { setenv("DRAGOMAN_CUDA_PLUGIN", "/nowhere/plugin.so", 1); }
  ~WithoutAGpu() override {
    unsetenv("DRAGOMAN_CUDA_PLUGIN");
    std::filesystem::remove_all(folder_);
  }

  const std::string folder_ = testing::TempDir() + "device_run";
  const std::string train_ = "train " + copy_recipe + " --out " + folder_ +
                             " --training.max_epochs 1 --data.batches 2 --data.sentences 4 ";
};

TEST_F(WithoutAGpu, TrainingRunsOnTheProcessor) {
  for (const std::string flag : {"--device ", "--training.device "}) {
    const std::string refused = error_of(train_ + flag + "cuda", 1);
    EXPECT_NE(refused.find("/nowhere/plugin.so"), refused.npos) << refused;
    EXPECT_EQ(std::ranges::count(refused, '\n'), 1) << refused;
    const std::string nonsense = error_of(train_ + flag + "nonsense", 2);
    EXPECT_NE(nonsense.find("auto, cpu, cuda or cuda:N"), nonsense.npos) << nonsense;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/config.json"));
  const std::string precise = error_of(train_ + "--training.precision tf32", 2);
  EXPECT_NE(precise.find("only GPUs have"), precise.npos) << precise;
  EXPECT_EQ(run(train_ + "--device cpu").exit_code, 0);
  EXPECT_EQ(run(train_ + "--training.max_epochs 2").exit_code, 0) << "a device may change";
}

TEST_F(WithoutAGpu, EveryCommandThatRunsAModelHasTheOption) {
  const std::string bench =
      "bench --rounds 1 --sentences 1 --length 2 --batch 1 --beam 1 --vocabulary 9 "
      "--model.encoder_layers 1 --model.decoder_layers 1 --device ";
  EXPECT_EQ(run(bench + "cpu").exit_code, 0);
  error_of(bench + "cuda:1", 1);
  error_of(bench + "cuda:", 2);
  for (const char* command :
       {"translate", "generate", "score", "evaluate", "inspect", "explain", "rerank", "serve"}) {
    const std::string refused = error_of(std::string(command) + " --device gpu", 2);
    EXPECT_NE(refused.find("auto, cpu, cuda or cuda:N"), refused.npos) << command << ": " << refused;
  }
}

TEST_F(WithoutAGpu, InfoSaysWhy) {
  const Outcome machine = run("info");
  EXPECT_EQ(machine.exit_code, 0);
  const std::string none = "\nGPU                     none: ";
  EXPECT_NE(machine.output.find(none), machine.output.npos) << machine.output;
  error_of("info --verify", 2);
}

TEST(Program, TheManualPageHasAllCommands) {
  const std::string page = read_file(DRAGOMAN_SOURCE_DIR "/docs/dragoman.1");
  for (const Command& command : commands) {
    const std::string entry = fmt::format("\n.TP\n.B {}\n{}\n", command.name, command.summary);
    EXPECT_NE(page.find(entry), page.npos) << entry;
  }
}

TEST(Program, OutputThatCannotBeWrittenIsAnErrorWithTheReason) {
  const std::string err = testing::TempDir() + "err", program = DRAGOMAN_PROGRAM;
  for (const auto& [to, reason] :
       {std::pair(">/dev/full", "No space left on device"), {">&-", "Bad file descriptor"}}) {
    const int status = std::system((program + " --help " + to + " 2>" + err).c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1) << to;
    EXPECT_EQ(read_file(err), std::string("dragoman: cannot write to standard output: ") + reason + "\n");
  }
  std::remove(err.c_str());
}

TEST(Program, AWrongCommandLineIsAUsageError) {
  EXPECT_NE(run("").output.find("usage: dragoman COMMAND"), std::string::npos)
      << "alone it lists its commands";
  EXPECT_EQ(error_of("trian", 2),
            "dragoman: unknown command trian; did you mean train? dragoman --help lists all\n");
  EXPECT_EQ(error_of("version", 2),
            "dragoman: unknown command version; did you mean --version? dragoman --help lists all\n");
  EXPECT_TRUE(
      error_of("-m models/a", 2).starts_with("dragoman: -m is before a command: write dragoman COMMAND"));
  EXPECT_EQ(error_of("umbrella", 2), "dragoman: unknown command umbrella: dragoman --help lists all\n");
  const std::string without_ending = copy_recipe.substr(0, copy_recipe.rfind('.'));
  for (const std::string& mistaken : {without_ending, without_ending + ".tmol"})
    EXPECT_EQ(error_of("train " + mistaken, 1),
              "dragoman: there is no recipe " + mistaken + "; did you mean " + copy_recipe + "?\n");
  EXPECT_TRUE(error_of("train", 2).starts_with("dragoman: train: missing RECIPE (a TOML file"));
  EXPECT_EQ(error_of("train a b", 2),
            "dragoman: train: unexpected argument \"b\": see dragoman train --help\n");
  EXPECT_EQ(error_of("train --model.dmodel 3 " + copy_recipe, 2),
            "dragoman: train: unknown option --model.dmodel; did you mean --model.d_model?\n");
  EXPECT_EQ(error_of("train " + copy_recipe + " --model.heads", 2),
            "dragoman: train: --model.heads needs a value\n");
  EXPECT_EQ(error_of("train " + copy_recipe + " --model.heads=7", 2),
            "dragoman: the command line: model.heads is 7, which does not divide model.d_model, 512: choose "
            "another one, or set model.head_width\n");
}

TEST(Program, ABadRecipeIsNamedByFileAndLine) {
  const std::string path = testing::TempDir() + "recipe.toml";
  std::ofstream(path) << "[model]\nheads = 7\n[training]\nmax_steps = 1\n";
  EXPECT_EQ(error_of("train " + path, 2),
            "dragoman: " + path +
                ":2: model.heads is 7, which does not divide model.d_model, 512: choose "
                "another one, or set model.head_width\n");
  std::remove(path.c_str());
}

TEST(Program, AMissingFileIsAFailure) {
  EXPECT_EQ(error_of("train /nowhere.toml", 1),
            "dragoman: there is no recipe /nowhere.toml: check the path\n");
}

}  // namespace
}  // namespace dragoman::internal
