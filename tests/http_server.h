// A small HTTP server on this machine for tests of downloads, which misbehaves as they want it to. Each connection
// serves one request.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "hub/http.h"

namespace dragoman::internal {

// A build may lack what it takes.
inline bool can_download() {
  try {
    const Http http;
    return true;
  } catch (const Error&) {
    return false;
  }
}

struct HttpQuery {
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  bool has(const std::string& name) const { return headers.contains(name); }
};

struct HttpReply {
  int status = 200;
  std::vector<std::string> headers = {};
  std::string body = {};
  size_t most_sent = std::string::npos;  // bytes of the body; then the connection is cut
  bool says_length = true;
  int bytes_per_tenth = 0;  // slow, if it is not 0
};

class DownloadServer {
 public:
  using Answer = std::function<HttpReply(const HttpQuery& query)>;

  explicit DownloadServer(Answer answer)
      : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~DownloadServer() {
    stopped_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  DownloadServer(const DownloadServer&) = delete;
  DownloadServer& operator=(const DownloadServer&) = delete;

  std::string url(const std::string& path = "") const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }
  std::vector<HttpQuery> queries() const {
    const std::lock_guard lock(mutex_);
    return queries_;
  }

 private:
  void serve() {
    for (;;) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      const HttpQuery query = read_query(connection);
      {
        const std::lock_guard lock(mutex_);
        queries_.push_back(query);
      }
      send_reply(connection, answer_(query));
      close(connection);
    }
  }

  static HttpQuery read_query(int connection) {
    std::string text;
    char block[4096];
    for (ssize_t n = 1; n > 0 && text.find("\r\n\r\n") == text.npos;) {
      n = recv(connection, block, sizeof block, 0);
      if (n > 0) text.append(block, static_cast<size_t>(n));
    }
    HttpQuery query;
    const size_t path = text.find(' ') + 1;
    query.path = text.substr(path, text.find(' ', path) - path);
    for (size_t at = text.find("\r\n"); at + 4 <= text.size();) {
      const size_t end = text.find("\r\n", at + 2), colon = text.find(": ", at + 2);
      if (end == text.npos || colon > end) break;
      std::string name = text.substr(at + 2, colon - at - 2);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      query.headers[name] = text.substr(colon + 2, end - colon - 2);
      at = end;
    }
    return query;
  }

  void send_reply(int connection, const HttpReply& reply) const {
    std::string head = fmt::format("HTTP/1.1 {} Reply\r\nConnection: close\r\n", reply.status);
    if (reply.says_length) head += fmt::format("Content-Length: {}\r\n", reply.body.size());
    for (const std::string& header : reply.headers) head += header + "\r\n";
    if (!send_all(connection, head + "\r\n")) return;
    const std::string body = reply.body.substr(0, reply.most_sent);
    const size_t step = reply.bytes_per_tenth > 0 ? static_cast<size_t>(reply.bytes_per_tenth) : body.size();
    for (size_t sent = 0; sent < body.size() && !stopped_; sent += step) {
      if (sent > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (!send_all(connection, body.substr(sent, step))) return;
    }
  }

  static bool send_all(int connection, const std::string& text) {
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }

  Answer answer_;
  int listener_, port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::vector<HttpQuery> queries_;
  std::atomic<bool> stopped_ = false;
};

// A file as a good server has it: parts of it, and whether it has changed.
inline HttpReply file_reply(const HttpQuery& query, const std::string& contents, const std::string& tag) {
  const auto header = [&](const char* name) {
    const auto found = query.headers.find(name);
    return found == query.headers.end() ? "" : found->second;
  };
  HttpReply reply = {.headers = {"ETag: " + tag}, .body = contents};
  if (header("if-none-match") == tag) return {.status = 304, .says_length = false};
  if (!query.has("range") || (query.has("if-range") && header("if-range") != tag)) return reply;
  const size_t from = std::stoul(header("range").substr(6));
  if (from >= contents.size()) return {.status = 416};
  reply.status = 206;
  reply.headers.push_back(
      fmt::format("Content-Range: bytes {}-{}/{}", from, contents.size() - 1, contents.size()));
  reply.body = contents.substr(from);
  return reply;
}

}  // namespace dragoman::internal
