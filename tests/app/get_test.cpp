// dragoman get, as a user calls it, from a mirror on this machine.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "app/translating_commands.h"
#include "http_server.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

class GetTest : public TranslatingCommands {
 protected:
  GetTest() {
    setenv("DRAGOMAN_HUB", server_.url().c_str(), 1);
    setenv("XDG_CACHE_HOME", temporary_.path("cache").c_str(), 1);
  }
  void SetUp() override {
    if (!can_download()) GTEST_SKIP() << "built without libcurl and OpenSSL";
  }
  ~GetTest() override {
    unsetenv("DRAGOMAN_HUB");
    unsetenv("XDG_CACHE_HOME");
  }

  HttpReply answer(const HttpQuery& query) const {
    const std::string published = "/Helsinki-NLP/opus-mt-en-fr/resolve/main/";
    const std::string name = query.path.starts_with(published) ? query.path.substr(published.size()) : "";
    if (name.empty() || !fs::exists(source_ + "/" + name)) return {.status = 404};
    HttpReply reply = file_reply(query, read_file(source_ + "/" + name), "\"" + name + "\"");
    if (name == "model.safetensors") reply.bytes_per_tenth = speed_;
    return reply;
  }
  size_t parts() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(temporary_.path("cache")))
      count += entry.path().extension() == ".part";
    return count;
  }

  // Starts `dragoman get opus-mt-en-fr`; returns the process.
  pid_t start() const {
    const pid_t child = fork();
    if (child != 0) return child;
    dup2(creat(temporary_.path("errors").c_str(), 0600), STDERR_FILENO);
    execl(DRAGOMAN_PROGRAM, DRAGOMAN_PROGRAM, "get", "opus-mt-en-fr", "--out", out_.c_str(), nullptr);
    _exit(127);
  }

  const std::string source_ = std::string(DRAGOMAN_SOURCE_DIR) + "/tests/golden/fixtures/huggingface/joint";
  const TemporaryFolder temporary_;
  const std::string out_ = temporary_.path("en-fr");
  std::atomic<int> speed_ = 0;  // bytes in a tenth of a second
  DownloadServer server_{[this](const HttpQuery& query) { return answer(query); }};
};

TEST_F(GetTest, WhatItDownloadsTranslates) {
  const std::string said = run("get opus-mt-en-fr --out " + out_);
  EXPECT_NE(said.find("dragoman translate --model " + out_), std::string::npos) << said;
  EXPECT_NE(errors_.find("downloaded 0.1 MB"), std::string::npos) << errors_;
  EXPECT_TRUE(
      run("translate --model " + out_, ">>fra<< the cat sees a dog .\n").starts_with("la chatte voit"));
  EXPECT_FALSE(fs::exists(temporary_.path("cache/dragoman/huggingface/Helsinki-NLP/opus-mt-en-fr")));
  for (const std::string& how : {"--keep --out " + out_ + "2", "--out " + out_ + "3"}) {
    run("get opus-mt-en-fr " + how);
    EXPECT_TRUE(
        fs::exists(temporary_.path("cache/dragoman/huggingface/Helsinki-NLP/opus-mt-en-fr/vocab.json")))
        << how;
  }
}

TEST_F(GetTest, MistakesAreOneSentence) {
  run("get", "", 2);
  EXPECT_NE(errors_.find("get --list"), std::string::npos) << errors_;
  run("get en-fr", "", 2);
  EXPECT_NE(errors_.find("\"en-fr\" is not a model name"), std::string::npos) << errors_;
  run("get opus-mt-en-fy --out " + out_, "", 1);
  EXPECT_NE(errors_.find("did you mean opus-mt-en-"), std::string::npos) << errors_;
  run("get opus-mt-en-fr --out " + folder_.path, "", 2);
  EXPECT_NE(errors_.find("already holds a model"), std::string::npos) << errors_;
  setenv("XDG_CACHE_HOME", "/proc/here", 1);
  run("get opus-mt-en-fr --out " + out_, "", 1);
  EXPECT_NE(errors_.find("cannot create the folder /proc/here"), std::string::npos) << errors_;
  setenv("XDG_CACHE_HOME", temporary_.path("cache").c_str(), 1);
  run("get opus-mt-en-fr --hub here --out " + out_, "", 2);
  EXPECT_NE(errors_.find("--hub must begin with https://"), std::string::npos) << errors_;
  EXPECT_TRUE(run("get --list").find("argos SOURCE TARGET") != std::string::npos);
  EXPECT_EQ(run("get --list opus-mt-fr-e"),
            "opus-mt-fr-ee\nopus-mt-fr-efi\nopus-mt-fr-el\nopus-mt-fr-en\n"
            "opus-mt-fr-eo\nopus-mt-fr-es\n");
  EXPECT_EQ(run("get --list opus-mt-xx", "", 1), "");
  EXPECT_NE(errors_.find("no known model's name begins with \"opus-mt-xx\""), std::string::npos) << errors_;
}

TEST_F(GetTest, StopsAtOnceAndGoesOn) {
  using Clock = std::chrono::steady_clock;
  speed_ = 50;  // two minutes
  const pid_t child = start();
  const auto begin = Clock::now();
  while (Clock::now() - begin < std::chrono::seconds(20) &&
         (!fs::exists(temporary_.path("cache")) || parts() == 0))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto stopped = Clock::now();
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_LT(Clock::now() - stopped, std::chrono::seconds(5));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_NE(read_file(temporary_.path("errors")).find("run the same command to resume"), std::string::npos);
  EXPECT_EQ(parts(), 1u);

  speed_ = 0;
  run("get opus-mt-en-fr --out " + out_);
  EXPECT_TRUE(server_.queries().back().has("range"));
  EXPECT_TRUE(
      run("translate --model " + out_, ">>fra<< the cat sees a dog .\n").starts_with("la chatte voit"));
}

}  // namespace
}  // namespace dragoman::internal
