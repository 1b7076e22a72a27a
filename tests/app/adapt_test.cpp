// dragoman adapt, killed at any instant: run again it ends with the same model, and there is never a part of one.
#include <csignal>
#include <filesystem>
#include <thread>

#include "app/training_runs.h"
#include "base/random.h"
#include "model/folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class AdaptRuns : public TrainingRuns {
 protected:
  AdaptRuns() {
    std::string segments, source, target;
    for (int i = 0; i < 150; ++i) {
      segments += "Open file " + std::to_string(i) + "\tLe chat est noir.\n";
      source += "I have " + std::to_string(i) + " books.\n";
      target += "J'ai " + std::to_string(i) + " livres.\n";
    }
    write_file(path("mine.tsv"), {segments});
    write_file(path("general.en"), {source});
    write_file(path("general.fr"), {target});
  }

  pid_t adapt(const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {DRAGOMAN_PROGRAM,
                                      "adapt",
                                      path("mine.tsv"),
                                      "--model=" DRAGOMAN_SOURCE_DIR "/docs/model",
                                      "--general-source=" + path("general.en"),
                                      "--general-target=" + path("general.fr"),
                                      "--max-steps=10",
                                      "--max-minutes=0",
                                      "--max-loss=2",
                                      "--learning-rate=3e-3",
                                      "--threads=1",
                                      "--device=cpu",
                                      "--out=" + path(out)};
    words.insert(words.end(), more.begin(), more.end());
    return start_program(words);
  }

  // What a model folder has; empty where there is none.
  std::vector<std::string> model(const std::string& out) const {
    if (!fs::exists(path(out))) return {};
    return {read_file(weights_path(path(out))), read_file(path(out) + "/config.json"),
            read_file(path(out) + "/adaptation.json")};
  }
};

TEST_F(AdaptRuns, KilledAtRandomInstantsEndWithTheSameModel) {
  ASSERT_EQ(wait_for(adapt("whole")), 0) << read_file(path("log"));
  const auto whole = model("whole");
  ASSERT_FALSE(whole.empty()) << "it is no better";
  Random random(7);
  int code = -1;
  for (int starts = 0; code != 0 && starts < 100; ++starts) {
    const pid_t child = adapt("killed");
    if (starts < 8) {
      std::this_thread::sleep_for(std::chrono::microseconds(5000 + random.below(300000)));
      ::kill(child, SIGKILL);
    }
    code = wait_for(child);
    ASSERT_TRUE(code == 0 || code == 128 + SIGKILL) << read_file(path("log"));
    EXPECT_TRUE(code == 0 || model("killed").empty() || model("killed") == whole);
  }
  EXPECT_EQ(model("killed"), whole);
}

TEST_F(AdaptRuns, TellsOtherProgramsHowItEnded) {
  write_file(path("mine.tsv"), {"Open\tLe chat est noir.\n"});
  EXPECT_EQ(wait_for(adapt("few", {"--format=json"})), 1);
  const std::string log = read_file(path("log")), begin = R"({"outcome":"too few","message":"1 of )";
  const size_t at = log.find(begin);
  ASSERT_NE(at, log.npos) << log;
  EXPECT_EQ(nlohmann::json::parse(log.substr(at, log.find('\n', at) - at)).size(), 2u);
  EXPECT_FALSE(fs::exists(path("few")));
}

}  // namespace
}  // namespace dragoman::internal
