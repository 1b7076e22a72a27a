#include "http/response_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace dragoman::internal {
namespace {

constexpr auto reasons = std::to_array<std::pair<int, std::string_view>>({
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {456, "Quota Exceeded"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
});

// The date of this second, which most answers of a second share.
const std::string& date_now() {
  thread_local std::time_t last = -1;
  thread_local std::string text;
  const auto now = std::chrono::system_clock::now();
  if (const std::time_t second = std::chrono::system_clock::to_time_t(now); second != last) {
    last = second;
    text = http_date(now);
  }
  return text;
}

// Values may hold what a client has sent: a line break there would end the header.
void append_header(std::string& to, std::string_view name, std::string_view value) {
  to.append(name).append(": ");
  std::ranges::transform(value, std::back_inserter(to), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f ? ' ' : c;
  });
  to += "\r\n";
}

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::string_view reason_of(int status) {
  const auto* const found =
      std::ranges::lower_bound(reasons, status, {}, &std::pair<int, std::string_view>::first);
  return found != reasons.end() && found->first == status ? found->second : "Unknown";
}

std::string http_date(std::chrono::system_clock::time_point time) {
  static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", days[utc.tm_wday], utc.tm_mday,
                     months[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string response_head(const HttpResponse& response, const HeadTerms& terms) {
  std::string head;
  head.reserve(256);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status, reason_of(response.status));
  append_header(head, "Date", date_now());
  if (has_body(response.status)) {
    if (!response.type.empty()) append_header(head, "Content-Type", response.type);
    if (terms.framing == BodyFraming::length)
      fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.size());
    if (terms.framing == BodyFraming::chunked) head += "Transfer-Encoding: chunked\r\n";
  }
  if (!terms.id.empty()) append_header(head, "X-Request-Id", terms.id);
  for (const auto& [name, value] : response.headers) append_header(head, name, value);
  if (!terms.keep_alive) head += "Connection: close\r\n";
  if (terms.keep_alive && !terms.http_1_1) head += "Connection: keep-alive\r\n";
  head += "\r\n";
  return head;
}

HttpResponse error_response(int status, std::string_view sentence) {
  HttpResponse response = {.status = status, .body = "{\"error\":\""};
  for (const char c : sentence)
    if (static_cast<unsigned char>(c) >= 0x20) {
      if (c == '"' || c == '\\') response.body += '\\';
      response.body += c;
    }
  response.body += "\"}";
  return response;
}

void append_chunk(std::string& to, std::string_view text) {
  if (text.empty()) return;  // an empty chunk would end the body
  fmt::format_to(std::back_inserter(to), "{:x}\r\n", text.size());
  to.append(text).append("\r\n");
}

}  // namespace dragoman::internal
