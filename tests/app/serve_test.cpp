// The program as a server: what it prints, how it ends, and that it keeps to its OpenAPI document.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/translating_commands.h"
#include "http_client.h"
#include "run_script.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

// dragoman serve, on a free port.
class ServingProgram {
 public:
  ServingProgram(const std::string& log, std::vector<std::string> more) : log_(log) {
    std::vector<std::string> words = {DRAGOMAN_PROGRAM, "serve", "--port", "0", "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const int file = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    process_ = fork();
    if (process_ != 0) {
      close(file);
      return;
    }
    dup2(file, STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ~ServingProgram() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
  }

  std::string log() const { return read_file(log_); }
  // Once it is ready; 0: it was not in time.
  int port() const {
    for (int i = 0; i < 600; ++i) {
      const std::string text = log();
      const size_t at = text.find("://127.0.0.1:");
      if (at != text.npos && text.find('/', at + 13) != text.npos) return std::stoi(text.substr(at + 13));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return 0;
  }
  void send(int signal) const { kill(process_, signal); }
  int exit_code() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  const std::string log_;
  pid_t process_;
};

class ServeCommand : public TranslatingCommands {
 protected:
  std::string pair() const { return "en-fr=" + folder_.path; }
};

std::optional<ClientResponse> post(int port, const std::string& path, const json& body) {
  HttpClient client(port, std::chrono::seconds(60));
  client.request("POST", path, body.dump(), "Content-Type: application/json\r\n");
  return client.read();
}

TEST_F(ServeCommand, TranslatesAsTheCommandDoes) {
  ServingProgram server(file("log"), {"--model", pair()});
  const int port = server.port();
  ASSERT_NE(port, 0) << server.log();
  EXPECT_NE(server.log().find("translates en-fr\n"), std::string::npos) << server.log();
  const std::string text = "Where is the station?\nA dog barks at the cat.";
  const auto response = post(port, "/v1/translate", {{"text", text}, {"max-length", 20}});
  ASSERT_TRUE(response);
  EXPECT_EQ(json::parse(response->body)["text"].get<std::string>() + "\n",
            translate(text + "\n", "--split-sentences en"));
  server.send(SIGTERM);
  EXPECT_EQ(server.exit_code(), 143);
}

TEST_F(ServeCommand, AMemoryOfLanguagesThatNoModelTranslatesIsRefused) {
  run("memory build --from en --to de --out " + file("memory") + " " +
      write("segments.tsv", "It is cold.\tEs ist kalt.\n"));
  ServingProgram server(file("log"), {"--model", pair(), "--memory", file("memory")});
  EXPECT_EQ(server.exit_code(), 2);
  EXPECT_NE(server.log().find("it is from en to de, and no model translates between these languages"),
            std::string::npos)
      << server.log();
}

TEST_F(ServeCommand, TheLogHasRequestsButNoTexts) {
  ServingProgram server(file("log"), {"--model", pair(), "--log", "json"});
  const int port = server.port();
  ASSERT_NE(port, 0) << server.log();
  ASSERT_TRUE(post(port, "/v1/translate?api_key=secret", {{"text", "The cat sleeps."}, {"max-length", 5}}));
  server.send(SIGINT);
  EXPECT_EQ(server.exit_code(), 130);
  const std::string log = server.log();
  EXPECT_EQ(log.find("cat"), std::string::npos);
  EXPECT_EQ(log.find("secret"), std::string::npos);
  bool found = false;
  for (const std::string& line : lines_of(log)) {
    if (line.starts_with("dragoman: ")) continue;  // why it ended
    const json object = json::parse(line);
    found = found || (object.value("path", "") == "/v1/translate" && object["status"] == 200 &&
                      object["client"] == "127.0.0.1" && object["ms"].is_number());
  }
  EXPECT_TRUE(found) << log;
}

TEST_F(ServeCommand, TheCacheIsAsLargeAsItIsTold) {
  for (const bool cached : {false, true}) {
    ServingProgram server(file("log"), {"--model", pair(), "--cache", cached ? "1" : "0"});
    const int port = server.port();
    ASSERT_NE(port, 0) << server.log();
    for (int i = 0; i < 2; ++i)
      ASSERT_TRUE(post(port, "/v1/translate", {{"text", "The cat sleeps."}, {"max-length", 5}}));
    HttpClient client(port);
    client.request("GET", "/metrics", "", "");
    const std::string metrics = client.read().value_or(ClientResponse{}).body;
    const size_t at = metrics.find("\ndragoman_cache_hits_total{");
    ASSERT_NE(at, metrics.npos) << metrics;
    EXPECT_EQ(metrics.substr(metrics.find(' ', at), 3), cached ? " 1\n" : " 0\n");
  }
}

TEST_F(ServeCommand, ASignalDoesNotWaitForModelsToLoad) {
  const std::string folder = file("slow-model"), config = folder + "/config.json";
  std::filesystem::create_directory(folder);
  ASSERT_EQ(mkfifo(config.c_str(), 0600), 0);
  ServingProgram server(file("log"), {"--model", folder});
  int writer = -1;  // opens once the server reads, which then waits for what never comes
  for (int i = 0; i < 600 && writer < 0; ++i) {
    writer = open(config.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (writer < 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_GE(writer, 0) << server.log();
  server.send(SIGTERM);
  EXPECT_EQ(server.exit_code(), 143);
  close(writer);
}

TEST_F(ServeCommand, GoesOnWhenNobodyReadsItsLog) {
  const std::string pipe = file("log");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ServingProgram server(pipe, {"--model", pair()});
  std::string log;
  const auto port = [&] {
    const size_t at = log.find("://127.0.0.1:");
    return at != log.npos && log.find('/', at + 13) != log.npos ? std::stoi(log.substr(at + 13)) : 0;
  };
  for (int i = 0; i < 600 && port() == 0; ++i) {
    std::array<char, 4096> piece;
    const ssize_t n = read(reader, piece.data(), piece.size());
    if (n > 0) log.append(piece.data(), static_cast<size_t>(n));
    if (n <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  close(reader);
  ASSERT_NE(port(), 0) << log;
  for (int i = 0; i < 2; ++i) {
    const auto response = post(port(), "/v1/translate", {{"text", "The cat sleeps."}, {"max-length", 5}});
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
  }
  server.send(SIGTERM);
  EXPECT_EQ(server.exit_code(), 143);
}

TEST_F(ServeCommand, EndsWhatAdaptsItsModelsWithItself) {
  const std::string base = file("base");
  std::filesystem::copy(DRAGOMAN_SOURCE_DIR "/docs/model", base);
  std::string suggestions;
  for (int i = 0; i < 120; ++i)
    suggestions +=
        json{{"source", "en"}, {"target", "fr"}, {"q", fmt::format("Open file {}", i)}, {"s", "Oui."}}
            .dump() +
        "\n";
  ServingProgram server(
      file("log"), {"-m", base, "--adapt-every", "1", "--suggestions", write("users.jsonl", suggestions)});
  const auto says = [&](const std::string& words) { return server.log().find(words) != std::string::npos; };
  for (int i = 0; i < 600 && !says("general text: the program's own"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.send(SIGTERM);
  EXPECT_EQ(server.exit_code(), 143) << server.log();
  EXPECT_TRUE(says("adapting " + base + " was stopped")) << server.log();
  EXPECT_TRUE(std::filesystem::exists(base + ".adapted.dragoman-work"));
  EXPECT_FALSE(std::filesystem::exists(base + ".adapted"));
}

TEST_F(ServeCommand, RefusesWhatItCannotServe) {
  run("serve", "", 2);
  EXPECT_NE(errors_.find("--model"), std::string::npos);
  run("serve --port 0 --model " + file("nothing"), "", 1);
  EXPECT_NE(errors_.find("nothing"), std::string::npos);
  run("serve --port 0 --model " + pair() + " --key x.pem", "", 2);
  run("serve --port 0 --model " + pair() + " --api-keys " + file("none"), "", 1);
  run("serve --port 0 --adapt-every 1 --model " + pair(), "", 2);
  EXPECT_NE(errors_.find("--suggestions"), std::string::npos) << errors_;
  run("serve --port 0 --host 256.0.0.1 --model " + pair(), "", 1);
  run("serve --port 0 --proxy 10.0.0.0/33 --model " + pair(), "", 2);
  EXPECT_NE(errors_.find("10.0.0.0/33"), std::string::npos);
}

TEST_F(ServeCommand, MakesAKeyAndAsksForIt) {
  const std::string line = run("serve --new-key alice");
  EXPECT_TRUE(line.starts_with("alice ")) << line;
  const size_t at = errors_.find(": ") + 2;
  const std::string key = errors_.substr(at, errors_.find('\n', at) - at);
  ServingProgram server(file("log"), {"--model", pair(), "--api-keys", write("keys", line)});
  const int port = server.port();
  ASSERT_NE(port, 0) << server.log();
  EXPECT_EQ(post(port, "/v1/translate", {{"text", "x"}})->status, 401);
  HttpClient client(port);
  client.request("GET", "/v1/models", {}, "Authorization: Bearer " + key + "\r\n");
  EXPECT_EQ(client.read()->status, 200);
}

// PyPI's schemathesis makes the requests.
TEST_F(ServeCommand, KeepsToItsOpenApiDocument) {
  ServingProgram server(file("log"), {"--model", pair(), "--max-output", "20", "--log", "off"});
  const int port = server.port();
  ASSERT_NE(port, 0) << server.log();
  const std::string tests = std::filesystem::path(DRAGOMAN_PROGRAM).parent_path().string() + "/tests";
  expect_script_passes(fmt::format("{}/tests/app/openapi_conformance http://127.0.0.1:{} {}",
                                   DRAGOMAN_SOURCE_DIR, port, tests));
  server.send(SIGTERM);
  EXPECT_EQ(server.exit_code(), 143) << server.log();
}

}  // namespace
}  // namespace dragoman::internal
