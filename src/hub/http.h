// Http: GET over HTTP and HTTPS, by libcurl. Certificates are those of the system, and proxies those of the environment
// (https_proxy). HTTPS is never redirected to HTTP, and a token never sent to another host.
//
// A signal that asks to stop (base/signals.h) ends a transfer within a second: Stopped is thrown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace dragoman::internal {

struct HttpTimes {
  long connect = 30, stall = 60;  // seconds: to connect, and without a byte
};

struct HttpRequest {
  std::string url;
  std::string token = {};                 // a bearer token, sent only to the URL's host; empty: none
  std::vector<std::string> headers = {};  // "Range: bytes=10-"
};

// What precedes the contents. After redirects it is the last server's.
struct HttpHead {
  int status = 0;
  std::map<std::string, std::string, std::less<>> headers;  // names in lower case
  // Headers of the redirecting servers about the file.
  std::map<std::string, std::string, std::less<>> linked;

  std::string header(std::string_view name) const;  // empty if there is none
  std::optional<uint64_t> number(std::string_view name) const;
};

// The connection failed, or was cut: another attempt may succeed.
class ConnectionError : public Error {
 public:
  using Error::Error;
};

class Http {
 public:
  // Whether the contents are wanted.
  using OnHead = std::function<bool(const HttpHead& head)>;
  using OnData = std::function<void(std::string_view data)>;

  // Throws an Error if the program was built without libcurl.
  explicit Http(HttpTimes times = {});
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  // Returns the head. Exceptions of the functions end the transfer and are passed on.
  HttpHead get(const HttpRequest& request, const OnHead& on_head, const OnData& on_data);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

// Waits, unless a signal asks to stop: then Stopped is thrown.
void wait_unless_stopped(double seconds);

}  // namespace dragoman::internal
