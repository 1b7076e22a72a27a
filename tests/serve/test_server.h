// A server for tests: on a free port of this machine, over translations that a test controls.
#pragma once

#include <algorithm>
#include <atomic>
#include <cctype>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "http_client.h"
#include "serve/server.h"

namespace dragoman::internal {

// "Translates" into capitals, from "en" to "xx". Holds what has the text "hold" until release().
class CapitalTranslations : public Translations {
 public:
  void translate(TextWork work, std::function<void(std::future<TextResult>)> on_done) override {
    if (work.text == "full") throw Overloaded("too many texts wait", 7);
    if (work.to == "yy") throw dragoman::Error("there is no model from en to yy", ErrorKind::usage);
    std::promise<TextResult> promise;
    if (work.text == "late") {
      promise.set_exception(
          std::make_exception_ptr(dragoman::Error("the deadline has passed", ErrorKind::expired)));
      return on_done(promise.get_future());
    }
    TextResult result = {.text = work.text, .from = "en", .to = "xx"};
    for (char& c : result.text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (work.on_progress) work.on_progress({result.text, 0});
    promise.set_value(std::move(result));
    if (work.text != "hold") {
      note(std::move(work));
      return on_done(promise.get_future());
    }
    const std::lock_guard lock(mutex_);
    held_.push_back({std::move(work), std::move(on_done), promise.get_future()});
  }
  std::vector<DetectedLanguage> detect(const std::string&) const override { return {{"en", 0.5}}; }
  std::vector<ServedPair> pairs() const override { return {{"en", "fr"}, {"en", "xx"}}; }
  DirectTranslator direct(const std::string&, const std::string&) const override {
    throw dragoman::Error("there is no model", ErrorKind::usage);
  }
  bool ready() const override { return true; }
  std::optional<Overloaded> overload() const override {
    return full ? std::optional<Overloaded>(std::in_place, "too many texts wait", 7) : std::nullopt;
  }

  std::atomic<bool> full = false;

  size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  std::stop_token stop_of_held() const {
    const std::lock_guard lock(mutex_);
    return held_.front().work.stop;
  }
  void release() {
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (Held& one : held) one.on_done(std::move(one.result));
  }
  TextWork last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  struct Held {
    TextWork work;
    std::function<void(std::future<TextResult>)> on_done;
    std::future<TextResult> result;
  };
  void note(TextWork work) {
    const std::lock_guard lock(mutex_);
    last_ = std::move(work);
  }

  mutable std::mutex mutex_;
  std::vector<Held> held_;
  TextWork last_;
};

inline ServeSettings test_settings() {
  ServeSettings settings;
  settings.port = 0;
  settings.log = RequestLogFormat::off;
  settings.drain_time = 5;
  return settings;
}

struct TestServer {
  explicit TestServer(const ServeSettings& settings = test_settings(), bool loaded = true)
      : server(settings) {
    server.start();
    if (loaded) load();
  }
  void load() {
    auto made = std::make_unique<CapitalTranslations>();
    translations = made.get();
    server.load(std::move(made));
  }

  ClientResponse ask(std::string_view method, std::string_view target, std::string_view body = {},
                     const std::string& headers = "Content-Type: application/json\r\n") const {
    HttpClient client(server.port());
    client.request(method, target, body, headers);
    return client.read(method == "HEAD").value_or(ClientResponse{});
  }
  ClientResponse get(std::string_view target) const { return ask("GET", target, {}, ""); }
  ClientResponse post(std::string_view target, const nlohmann::json& body,
                      const std::string& headers = "") const {
    return ask("POST", target, body.dump(), headers + "Content-Type: application/json\r\n");
  }

  CapitalTranslations* translations = nullptr;
  TranslationServer server;
};

// The JSON that the server answers to JSON; null where there is no answer.
inline nlohmann::json answer_of_post(int port, const std::string& path, const nlohmann::json& body,
                                     int status) {
  HttpClient client(port, std::chrono::seconds(120));
  client.request("POST", path, body.dump(), "Content-Type: application/json\r\n");
  const auto response = client.read();
  EXPECT_TRUE(response);
  if (!response) return nullptr;
  EXPECT_EQ(response->status, status) << response->body;
  return nlohmann::json::parse(response->body);
}

// Waits until it holds, at most a minute: the machine may be busy.
inline bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace dragoman::internal
