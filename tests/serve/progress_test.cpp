// The events of a stream while a text is translated: each has only what may have changed, and slow clients get fewer.
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

// Reports what it is given, slowly enough that every report could be sent.
class ReportingTranslations : public CapitalTranslations {
 public:
  explicit ReportingTranslations(std::vector<dragoman::Progress> reports) : reports_(std::move(reports)) {}
  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override {
    thread_ = std::jthread([this, work = std::move(work), on_done = std::move(on_done)] {
      for (const dragoman::Progress& report : reports_) {
        work.on_progress(report);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
      }
      std::promise<TextResult> promise;
      promise.set_value({.text = std::string(reports_.back().text), .from = "en", .to = "xx"});
      on_done(promise.get_future());
      done = true;
    });
  }

  std::atomic<bool> done = false;

 private:
  const std::vector<dragoman::Progress> reports_;
  std::jthread thread_;
};

struct Streamed {
  std::vector<json> progress;
  std::optional<json> result;
};

// Reads once the translation is done.
Streamed stream_of(std::vector<dragoman::Progress> reports) {
  TestServer server(test_settings(), false);
  auto made = std::make_unique<ReportingTranslations>(std::move(reports));
  const ReportingTranslations& translations = *made;
  server.server.load(std::move(made));
  HttpClient client(server.server.port());
  client.request("POST", "/v1/translate", R"({"text":"x","stream":true,"details":false})",
                 "Content-Type: application/json\r\n");
  EXPECT_TRUE(eventually([&] { return translations.done.load(); }));
  const auto response = client.read();
  Streamed streamed;
  if (!response) return streamed;
  const std::string& body = response->body;
  for (size_t at = 0; at < body.size();) {
    const size_t data = body.find("\ndata: ", at), end = body.find("\n\n", at);
    json value = json::parse(body.substr(data + 7, end - data - 7));
    if (body.compare(at, 16, "event: progress\n") == 0)
      streamed.progress.push_back(std::move(value));
    else
      streamed.result = std::move(value);
    at = end + 2;
  }
  return streamed;
}

TEST(StreamedProgress, HasWhatMayHaveChanged) {
  // The third report's settled part ends within a letter of two bytes.
  const std::vector<dragoman::Progress> reports = {
      {"Où", 0}, {"Où est", 4}, {"Où était", 5}, {"Où était-ce ?", 14}, {"Où était-ce ?", 14}};
  const Streamed streamed = stream_of(reports);
  ASSERT_EQ(streamed.progress.size(), reports.size());
  EXPECT_EQ(streamed.progress[0], json({{"index", 0}, {"text", "Où"}, {"final_bytes", 0}}));
  EXPECT_EQ(streamed.progress[1], json({{"index", 0}, {"text", "Où est"}, {"final_bytes", 4}}));
  EXPECT_EQ(streamed.progress[2], json({{"index", 0}, {"begin", 4}, {"text", "était"}, {"final_bytes", 5}}));
  EXPECT_EQ(streamed.progress[3],
            json({{"index", 0}, {"begin", 4}, {"text", "était-ce ?"}, {"final_bytes", 14}}));
  std::string text;
  for (size_t i = 0; i < reports.size(); ++i) {
    text = text.substr(0, streamed.progress[i].value("begin", 0)) + std::string(streamed.progress[i]["text"]);
    EXPECT_EQ(text, reports[i].text);
  }
}

TEST(StreamedProgress, SlowClientsGetLessOfItAndTheResult) {
  const std::string text(1 << 20, 'a');
  const Streamed streamed = stream_of(std::vector<dragoman::Progress>(40, {text, 0}));
  EXPECT_LT(streamed.progress.size(), 30U);
  ASSERT_TRUE(streamed.result);
  EXPECT_EQ((*streamed.result)["text"].get<std::string>().size(), size_t{1} << 20);
}

}  // namespace
}  // namespace dragoman::internal
