// A second reading of requests, to hold the server's against: the grammar of RFC 9112 without its leniency, written
// down as plainly as it goes, and for whole bytes only.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dragoman::internal {

struct PlainRequest {
  std::string method, target, version, body;
  std::vector<std::pair<std::string, std::string>> headers;
  size_t size = 0;  // of all its bytes

  std::vector<std::string> values(const std::string& name) const {
    std::vector<std::string> found;
    for (const auto& [key, value] : headers)
      if (key == name) found.push_back(value);
    return found;
  }
};

class StrictParser {
 public:
  explicit StrictParser(std::string bytes) : bytes_(std::move(bytes)) {}

  // The request that the bytes begin with; none where they begin with no whole and valid one.
  std::optional<PlainRequest> parse() {
    at_ = bytes_.starts_with("\r\n") ? 2 : 0;
    if (!request_line() || !headers() || !body()) return {};
    request_.size = at_;
    return request_;
  }

 private:
  std::optional<std::string> line() {
    const size_t end = bytes_.find("\r\n", at_);
    if (end == bytes_.npos) return {};
    std::string text = bytes_.substr(at_, end - at_);
    at_ = end + 2;
    for (const char c : text)
      if ((c >= 0 && c < 32 && c != '\t') || c == 127) return {};
    return text;
  }

  bool request_line() {
    const auto text = line();
    if (!text) return false;
    const size_t first = text->find(' '), last = text->rfind(' ');
    if (first == text->npos || first == last || text->find(' ', first + 1) != last) return false;
    request_.method = text->substr(0, first);
    request_.target = text->substr(first + 1, last - first - 1);
    request_.version = text->substr(last + 1);
    return !request_.method.empty() && !request_.target.empty() &&
           (request_.version == "HTTP/1.1" || request_.version == "HTTP/1.0");
  }

  bool headers() {
    for (;;) {
      const auto text = line();
      if (!text) return false;
      if (text->empty()) return true;
      const size_t colon = text->find(':');
      if (colon == text->npos || colon == 0) return false;
      std::string name = text->substr(0, colon), value = text->substr(colon + 1);
      for (char& c : name) {
        if (!is_name_character(c)) return false;
        c = static_cast<char>(std::tolower(c));
      }
      while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.erase(0, 1);
      while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
      request_.headers.emplace_back(name, value);
    }
  }

  static bool is_name_character(char c) {
    if (c <= 0) return false;
    return std::isalnum(c) || std::string("!#$%&'*+-.^_`|~").find(c) != std::string::npos;
  }

  bool body() {
    const auto lengths = request_.values("content-length"), codings = request_.values("transfer-encoding"),
               hosts = request_.values("host");
    if (lengths.size() + codings.size() > 1 || hosts.size() > 1) return false;
    if (request_.version == "HTTP/1.1" ? hosts.empty() : !codings.empty()) return false;
    if (!codings.empty()) return chunks(codings[0]);
    if (lengths.empty()) return true;
    const std::string& length = lengths[0];
    if (length.empty() || length.size() > 18 || length.find_first_not_of("0123456789") != length.npos)
      return false;
    return data(std::stoull(length));
  }

  bool chunks(std::string coding) {
    for (char& c : coding) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (coding != "chunked") return false;
    for (size_t size = 1; size > 0;) {
      const auto text = line();
      if (!text || text->empty() || text->size() > 8) return false;
      if (text->find_first_not_of("0123456789abcdefABCDEF") != text->npos) return false;
      size = std::stoull(*text, nullptr, 16);
      if (!data(size) || bytes_.compare(at_, 2, "\r\n") != 0) return false;
      at_ += 2;
    }
    return true;
  }

  bool data(size_t size) {
    if (bytes_.size() - at_ < size) return false;
    request_.body += bytes_.substr(at_, size);
    at_ += size;
    return true;
  }

  const std::string bytes_;
  size_t at_ = 0;
  PlainRequest request_;
};

inline std::optional<PlainRequest> strictly_parsed(std::string bytes) {
  return StrictParser(std::move(bytes)).parse();
}

}  // namespace dragoman::internal
