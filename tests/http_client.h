// A raw HTTP client for tests: it sends bytes as they are and reads answers, blocking. Each read gives up after a time.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

namespace dragoman::internal {

struct ClientResponse {
  int status = 0;
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::string body = {};                            // chunks joined
  std::vector<std::string> chunks = {};
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

class HttpClient {
 public:
  explicit HttpClient(int port, std::chrono::milliseconds patience = std::chrono::seconds(10))
      : patience_(patience), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~HttpClient() { close(); }
  HttpClient(HttpClient&& other) noexcept
      : patience_(other.patience_),
        socket_(std::exchange(other.socket_, -1)),
        connected_(other.connected_),
        received_(std::move(other.received_)) {}
  HttpClient& operator=(HttpClient&&) = delete;

  bool connected() const { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // A whole request; Host and Content-Length are added. `headers`: lines, each with its CRLF.
  bool request(std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view headers = {}) {
    std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n{}", method, target, headers);
    if (!body.empty()) text += fmt::format("Content-Length: {}\r\n", body.size());
    return send(text.append("\r\n").append(body));
  }
  void end_output() { shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  void reset() {  // closes with RST
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close();
  }

  // The next answer, interim ones (100 Continue) included; none where the connection ends, or nothing comes in time.
  std::optional<ClientResponse> read(bool head_only = false) {
    std::optional<ClientResponse> response = read_head();
    if (!response || head_only || response->status < 200 || response->status == 204 ||
        response->status == 304)
      return response;
    if (response->header("transfer-encoding") == "chunked") {
      for (;;) {
        auto chunk = read_chunk();
        if (!chunk) return {};
        if (chunk->empty()) return response;
        response->body += *chunk;
        response->chunks.push_back(std::move(*chunk));
      }
    }
    if (const std::string length = response->header("content-length"); !length.empty()) {
      if (!fill(std::stoul(length))) return {};
      response->body = take(std::stoul(length));
    } else {
      while (receive()) {}
      response->body = take(received_.size());
    }
    return response;
  }
  std::optional<ClientResponse> read_head() {
    size_t end;
    while ((end = received_.find("\r\n\r\n")) == received_.npos)
      if (!receive()) return {};
    const std::string head = take(end + 4);
    ClientResponse response;
    if (head.size() < 12 || !head.starts_with("HTTP/1.1 ")) return {};
    response.status = std::stoi(head.substr(9, 3));
    for (size_t at = head.find("\r\n") + 2; at + 2 < head.size();) {
      const size_t line_end = head.find("\r\n", at), colon = head.find(':', at);
      if (colon > line_end) return {};
      std::string name = head.substr(at, colon - at);
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      const size_t value = std::min(head.find_first_not_of(' ', colon + 1), line_end);
      response.headers[name] = head.substr(value, line_end - value);
      at = line_end + 2;
    }
    return response;
  }
  // The next chunk of a body in chunks; empty: the last.
  std::optional<std::string> read_chunk() {
    size_t end;
    while ((end = received_.find("\r\n")) == received_.npos)
      if (!receive()) return {};
    const size_t size = std::stoul(take(end + 2), nullptr, 16);
    if (!fill(size + 2)) return {};
    std::string chunk = take(size);
    if (take(2) != "\r\n") return {};
    return chunk;
  }

  // Whether the server closes the connection; what it sends before is dropped.
  bool closed() {
    while (receive()) received_.clear();
    return ended_;
  }
  bool silent_for(std::chrono::milliseconds time) const {
    pollfd what = {.fd = socket_, .events = POLLIN, .revents = 0};
    return received_.empty() && poll(&what, 1, static_cast<int>(time.count())) == 0;
  }

 private:
  bool receive() {
    pollfd what = {.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&what, 1, static_cast<int>(patience_.count())) != 1) return false;
    char block[16384];
    const ssize_t n = recv(socket_, block, sizeof block, 0);
    if (n <= 0) ended_ = true;
    if (n > 0) received_.append(block, static_cast<size_t>(n));
    return n > 0;
  }
  bool fill(size_t bytes) {
    while (received_.size() < bytes)
      if (!receive()) return false;
    return true;
  }
  std::string take(size_t bytes) {
    std::string out = received_.substr(0, bytes);
    received_.erase(0, bytes);
    return out;
  }

  const std::chrono::milliseconds patience_;
  int socket_;
  bool connected_ = false, ended_ = false;
  std::string received_;
};

}  // namespace dragoman::internal
