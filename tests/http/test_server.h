// A server on a free port, and handlers for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/server.h"
#include "http_client.h"

namespace dragoman::internal {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct TestServer : HttpServer {
  explicit TestServer(HttpHandler handler, HttpSettings settings = {})
      : HttpServer(on_free_port(settings), handler) {
    start();
  }
  HttpClient client(milliseconds patience = seconds(10)) const { return HttpClient(port(), patience); }

 private:
  static HttpSettings on_free_port(HttpSettings settings) {
    settings.port = 0;
    return settings;
  }
};

// Answers with what it was asked.
inline void echo(const IncomingRequest& request, const Responder& responder) {
  std::string text = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  responder.send({.type = "text/plain", .body = text + "\n" + request.body});
}

// Keeps requests until they are asked for.
class Held {
 public:
  struct One {
    IncomingRequest request;
    Responder responder;
  };
  HttpHandler handler() {
    return {.handle = [this](IncomingRequest request, Responder responder) {
      const std::lock_guard lock(mutex_);
      held_.push_back({std::move(request), std::move(responder)});
      came_.notify_all();
    }};
  }
  One next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, seconds(10), [&] { return !held_.empty(); }))
      throw std::runtime_error("no request came");
    One one = std::move(held_.front());
    held_.erase(held_.begin());
    return one;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<One> held_;
};

// Whether the condition comes true soon.
inline bool soon(const std::function<bool()>& condition, milliseconds within = seconds(5)) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// A server, and a client with a request that the test answers.
struct HeldRequest {
  explicit HeldRequest(const HttpSettings& settings = {}) : server(held.handler(), settings) {}

  // Whether the server soon notices that the client has gone.
  bool disconnected() const {
    return soon([&] { return request.disconnected.stop_requested(); });
  }

  Held held;
  TestServer server;
  HttpClient client = asking(server);
  const Held::One one = held.next();
  const IncomingRequest& request = one.request;
  const Responder& responder = one.responder;

 private:
  static HttpClient asking(const TestServer& from) {
    HttpClient asks = from.client();
    asks.request("GET", "/");
    return asks;
  }
};

}  // namespace dragoman::internal
