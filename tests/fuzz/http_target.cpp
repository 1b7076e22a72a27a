#include "base/error.h"
#include "base/lines.h"
#include "base/random.h"
#include "fuzz/readers.h"
#include "http/read_in_pieces.h"
#include "http/strict_parser.h"

namespace dragoman::internal {
namespace {

constexpr size_t small_header = 600, small_body = 300;  // small, so that a fuzzer comes to the limits

void check_against_second_parser(const RequestsRead::One& one, std::string_view bytes) {
  const auto plain = strictly_parsed(std::string(bytes.substr(one.begin)));
  CHECK(plain, "accepted, though no valid request: {}", bytes.substr(one.begin));
  const IncomingRequest& request = one.request;
  CHECK(plain->method == (request.head_only ? "HEAD" : request.method));
  CHECK(plain->size == one.end - one.begin && plain->body == request.body);
  CHECK(plain->headers.size() == request.headers.size());
  for (size_t i = 0; i < plain->headers.size(); ++i) {
    const auto& [name, value] = request.headers[i];
    CHECK(name == plain->headers[i].first);
    CHECK(name == "host" || !is_text(plain->headers[i].second) || value == plain->headers[i].second);
  }
}

void check_text(const IncomingRequest& request) {
  CHECK(is_text(request.path) && (request.path.starts_with('/') || request.path == "*"));
  for (const auto& [name, value] : request.query) CHECK(is_text(name) && is_text(value));
  for (const auto& [name, value] : request.headers)
    CHECK(is_text(value) && value.find_first_of("\r\n") == value.npos, "{}", name);
}

}  // namespace

std::string read_http_requests(std::string_view bytes) {
  if (bytes.size() < 2) return {};
  Random random(static_cast<unsigned char>(bytes[0]));
  const uint64_t longest = 1 + static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  const RequestsRead whole = read_at_once(bytes, small_header, small_body);
  const RequestsRead pieces =
      read_in_pieces(bytes, small_header, small_body, [&] { return 1 + random.below(longest); });
  CHECK(same_requests(whole, pieces), "{}", bytes);
  for (const auto& one : whole.requests) {
    check_against_second_parser(one, bytes);
    check_text(one.request);
  }
  return whole.refused == 0 ? "" : "refused";
}

std::vector<std::string> http_request_seeds() {
  const std::string
      get = "GET /languages?a=%C3%A9+b&c HTTP/1.1\r\nHost: example.org:5000\r\nAccept: */*\r\n\r\n",
      post = "POST /translate HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 8\r\n\r\nq=a+text",
      chunks =
          "POST / HTTP/1.1\r\nhost:a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A\r\n0123456789\r\n"
          "0\r\n\r\n";
  return {"\x01\x05" + get, "\x02\x40" + post + chunks + get, "\x03\xff" + chunks + "\r\n" + post,
          "\x04\x01GET http://a.b:8/c%20d HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n\r\n",
          "\x05\x10OPTIONS * HTTP/1.1\r\nHost: \r\nX: S\xe3o\r\nConnection: close, Upgrade\r\nUpgrade: "
          "h2c\r\n\r\n"};
}

}  // namespace dragoman::internal
