// Stands for the other files of this folder where the program was built without Boost.
#include "base/error.h"
#include "http/server.h"

namespace dragoman::internal {

class HttpServer::Implementation {};

HttpServer::HttpServer(HttpSettings, HttpHandler) {
  throw Error(
      "this program was built without the server: install Boost 1.81 or newer and OpenSSL's headers, and "
      "build again");
}
HttpServer::~HttpServer() = default;
void HttpServer::start() {}
int HttpServer::port() const { return 0; }
void HttpServer::reload_certificate() {}
HttpCounts HttpServer::counts() const { return {}; }
bool HttpServer::stop(std::chrono::milliseconds) { return true; }

}  // namespace dragoman::internal
