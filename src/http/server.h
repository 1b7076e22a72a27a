// HttpServer: accepts connections, reads requests within limits, and hands them to a handler.
//
//   HttpServer server(settings, {.admit = ..., .handle = ...});
//   server.start();             // returns at once; bound when it returns
//   ...
//   server.stop(seconds(25));   // no new connections; waits until what was accepted is answered
//
// HTTP/1.1 with keep-alive, and 1.0. Anything ambiguous, which a proxy might parse differently, is refused and the
// connection closed (framing.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/message.h"

namespace dragoman::internal {

struct HttpSettings {
  std::string host = "127.0.0.1";
  int port = 5000;  // 0: any free one
  int threads = 2;  // that read and write

  size_t header_bytes = 16 << 10;
  size_t body_bytes = 32 << 20;  // unless `admit` says less
  size_t connections = 4096, connections_per_address = 256;
  size_t buffered_bytes = 256 << 20;  // of all requests' bodies that are read or worked on, beyond small ones
  size_t unsent_bytes = 8 << 20;      // of a stream: with more than these waiting, a client is dropped
  std::chrono::milliseconds header_time{
      10'000};  // from the first byte, or the connection's start, to the last header
  std::chrono::milliseconds body_time{60'000};
  std::chrono::milliseconds write_time{60'000};  // without any progress
  std::chrono::milliseconds idle_time{75'000};   // between two requests

  std::string certificate = {}, key = {};  // PEM files, or one that has both; empty: no TLS
};

// The part of a body that `buffered_bytes` does not count, so that large bodies do not keep small ones out.
inline constexpr size_t small_body = 64 << 10;

struct HttpHandler {
  // Once the headers are read, before the body is: an answer refuses the request. Changes `body_bytes` where another
  // limit than the server's holds. On a thread of the server: must return at once.
  std::function<std::optional<HttpResponse>(const IncomingRequest& head, size_t& body_bytes)> admit = {};
  // The answer where the server itself refuses a request whose headers it has read: the body is too large, too slow or
  // damaged, or too much is buffered (503). Left out: an answer of the server's own. Must return at once.
  std::function<HttpResponse(const IncomingRequest& head, int status, const std::string& sentence)> refused =
      {};
  // The whole request; HEAD comes as GET. On a thread of the server: must return at once, and answers when it can.
  std::function<void(IncomingRequest request, Responder responder)> handle;
};

// What a server counts.
struct HttpCounts {
  size_t connections = 0;                     // now
  uint64_t accepted = 0;                      // connections
  uint64_t refused = 0;                       // of these, for the sake of a limit
  uint64_t requests = 0;                      // that were handed to the handler
  uint64_t gone = 0;                          // of these, whose client went away before the answer
  size_t buffered_bytes = 0;                  // now, of bodies, beyond small ones
  std::map<int, uint64_t> bad_requests = {};  // that could not be read, by the status of the answer
};

class HttpServer {
 public:
  HttpServer(HttpSettings settings, HttpHandler handler);
  ~HttpServer();  // closes all connections
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  void start();  // an Error where the address cannot be used
  int port() const;
  // Reads the certificate's files again, for connections to come. An Error, and no change, where they cannot be used.
  void reload_certificate();
  HttpCounts counts() const;
  // Accepts no more, closes idle connections, and waits until the requests that were admitted are answered and all
  // connections closed. False where some were not within that time.
  bool stop(std::chrono::milliseconds within);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace dragoman::internal
