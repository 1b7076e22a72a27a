// What clients send and what they are answered. Nothing here knows of Boost, or of translation.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman::internal {

// Names are in lower case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The value of the first header of that name; empty where there is none.
inline std::string_view header_of(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

struct IncomingRequest {
  std::string method;      // "GET" for HEAD, too
  bool head_only = false;  // HEAD: the body of the answer is not sent
  std::string path;        // without the query, percent-decoded, valid UTF-8
  std::vector<std::pair<std::string, std::string>> query = {};  // decoded
  HttpHeaders headers = {};
  std::string body = {};
  std::string peer = {};  // the client's address, without its port
  std::string id = {};    // X-Request-Id if the client sent a valid one, else generated
  std::chrono::steady_clock::time_point received = {};
  std::stop_token disconnected = {};  // triggered when the client disconnects before the response

  std::string_view header(std::string_view name) const { return header_of(headers, name); }
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  HttpHeaders headers = {};
};

// The answer to one request: `send`, or `begin`, any number of `write` and `end`. From any thread, at any time, also
// after the client or the server has gone: then nothing happens. None of them waits for the client. If the last copy
// of a responder is destroyed before it has answered, the answer is 500.
class Responder {
 public:
  class Sink {  // the connection's side
   public:
    virtual ~Sink() = default;
    virtual void send(HttpResponse response) = 0;
    virtual void begin(HttpResponse head) = 0;
    virtual bool write(std::string_view text) = 0;
    virtual void end() = 0;
    virtual size_t unsent() const { return 0; }
  };
  explicit Responder(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}

  void send(HttpResponse response) const { sink_->send(std::move(response)); }
  void begin(HttpResponse head) const { sink_->begin(std::move(head)); }
  // False where more waits to be sent than the server keeps for a client that does not read: the client is dropped. The
  // size of `text` itself does not matter.
  bool write(std::string_view text) const { return sink_->write(text); }
  void end() const { sink_->end(); }
  size_t unsent() const { return sink_->unsent(); }  // bytes of a stream that wait for the client

 private:
  std::shared_ptr<Sink> sink_;
};

}  // namespace dragoman::internal
