// Documents that were accepted before the server is told to stop.
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

ClientResponse upload(const TestServer& server, const std::string& path, const std::string& fields) {
  return server.ask(
      "POST", path,
      fields +
          "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhold\r\n"
          "--b--\r\n",
      "Content-Type: multipart/form-data; boundary=b\r\n");
}

std::string field(const std::string& name, const std::string& value) {
  return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
}

struct Document {
  explicit Document(const TestServer& server) {
    const auto answer =
        upload(server, "/v2/document", field("source_lang", "EN") + field("target_lang", "FR"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const json ticket = json::parse(answer.body);
    path = "/v2/document/" + ticket.value("document_id", "");
    key = {{"document_key", ticket.value("document_key", "")}};
  }
  std::string path;
  json key;
};

class StoppingTest : public testing::Test {
 protected:
  void stop() {
    stopping_ = std::jthread([this] {
      all_done = server.server.stop();
      stopped = true;
    });
    ASSERT_TRUE(eventually([&] { return server.get("/readyz").status == 503; }));
  }
  void wait() { stopping_.join(); }

  TestServer server;
  std::atomic<bool> stopped = false, all_done = false;

 private:
  std::jthread stopping_;
};

TEST_F(StoppingTest, DocumentsAreTranslatedAndFetched) {
  const Document document(server);
  stop();
  EXPECT_EQ(json::parse(server.post(document.path, document.key).body)["status"], "translating");
  EXPECT_EQ(server.post("/v1/translate", {{"text", "x"}}).status, 503);
  EXPECT_FALSE(stopped);
  server.translations->release();
  EXPECT_EQ(json::parse(server.post(document.path, document.key).body)["status"], "done");
  EXPECT_FALSE(stopped);
  EXPECT_EQ(server.post(document.path + "/result", document.key).body, "HOLD");
  wait();
  EXPECT_TRUE(all_done);
}

TEST_F(StoppingTest, AFileIsFetchedAfterItsAnswer) {
  ClientResponse answer;
  std::jthread client(
      [&] { answer = upload(server, "/translate_file", field("source", "en") + field("target", "fr")); });
  ASSERT_TRUE(eventually([&] { return server.translations->held() == 1; }));
  stop();
  server.translations->release();
  client.join();
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::string url = json::parse(answer.body).at("translatedFileUrl");
  EXPECT_EQ(server.get(url.substr(url.find("/download_file"))).body, "HOLD");
  wait();
  EXPECT_TRUE(all_done);
}

TEST(Stopping, DocumentsThatTakeTooLongAreDropped) {
  ServeSettings settings = test_settings();
  settings.drain_time = 0;
  TestServer server(settings);
  const Document document(server);
  set_log_level(LogLevel::info);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(server.server.stop());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("dropped: 1 documents"), std::string::npos);
}

// Holds up the thread that asks it, as a large document may.
class SlowTranslations : public CapitalTranslations {
 public:
  explicit SlowTranslations(const std::atomic<bool>& released) : released_(released) {}
  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override {
    released_.wait(false);
    CapitalTranslations::translate(std::move(work), std::move(on_done));
  }

 private:
  const std::atomic<bool>& released_;
};

TEST(LargeRequests, AreNotHandledOnTheThreadsThatReadRequests) {
  std::atomic<bool> released = false;
  TestServer server(test_settings(), false);
  server.server.load(std::make_unique<SlowTranslations>(released));
  const std::string body = json({{"text", std::string(20'000, 'x')}}).dump();
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back(server.server.port());
    clients.back().request("POST", "/v1/translate", body, "Content-Type: application/json\r\n");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(server.get("/livez").status, 200);
  released = true;
  released.notify_all();
  for (HttpClient& client : clients) EXPECT_EQ(client.read().value_or(ClientResponse{}).status, 200);
}

}  // namespace
}  // namespace dragoman::internal
