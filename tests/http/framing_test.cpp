// What is refused, and that what is accepted has one reading.
#include "http/framing.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "http/read_in_pieces.h"
#include "http/request_samples.h"
#include "http/strict_parser.h"

namespace dragoman::internal {
namespace {

std::string with_headers(const std::string& headers, const std::string& version = "1.1") {
  return "POST /translate HTTP/" + version + "\r\nHost: a\r\n" + headers + "\r\n";
}

TEST(Framing, RefusesWhatCanBeReadInTwoWays) {
  for (const RefusedSample& sample : refused_samples())
    EXPECT_EQ(read_at_once(sample.bytes).refused, sample.status) << sample.bytes.substr(0, 300);
}

TEST(Framing, RefusesAsSoonAsItIsSure) {
  for (const char* bytes : {"\x16\x03\x01", "GET / HTTP/1.1\n", "GET /\x01", "GET / HTTP/1.1\r\nA: b\rc"})
    EXPECT_EQ(read_at_once(bytes).refused, 400) << bytes;
}

TEST(Framing, AcceptsWhatClientsSend) {
  const auto body_of = [](const std::string& bytes) {
    const RequestsRead read = read_at_once(bytes);
    EXPECT_EQ(read.refused, 0) << bytes;
    return read.requests.size() == 1 && read.requests[0].end == bytes.size() ? read.requests[0].request.body
                                                                             : "none";
  };
  EXPECT_EQ(body_of(with_headers("Content-Length: 3\r\n") + "abc"), "abc");
  EXPECT_EQ(body_of(with_headers("Content-Length:3\t \r\n") + "abc"), "abc");
  EXPECT_EQ(body_of(with_headers("content-length: 0\r\n")), "");
  EXPECT_EQ(body_of(with_headers("")), "");
  EXPECT_EQ(body_of(with_headers("Transfer-Encoding: Chunked\r\n") + "3\r\nabc\r\n0002\r\nde\r\n0\r\n\r\n"),
            "abcde");
  EXPECT_EQ(body_of(with_headers("Transfer-Encoding: chunked\r\n") + "A\r\n0123456789\r\n000\r\n\r\n"),
            "0123456789");
  EXPECT_EQ(body_of(with_headers("Content-Length: 3\r\n", "1.0") + "abc"), "abc");
  EXPECT_EQ(body_of("GET / HTTP/1.0\r\n\r\n"), "");
  EXPECT_EQ(body_of("\r\nGET / HTTP/1.0\r\n\r\n"), "");
  EXPECT_EQ(body_of(with_headers("Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n")), "");
}

TEST(Framing, HeadersAreUtf8AfterReading) {
  const auto read = read_at_once(with_headers("X-A: S\xe3o\r\nX-B: S\xc3\xa3o\r\nX-A: two\r\n"));
  ASSERT_EQ(read.requests.size(), 1u);
  const HttpHeaders expected = {{"host", "a"}, {"x-a", "São"}, {"x-b", "São"}, {"x-a", "two"}};
  EXPECT_EQ(read.requests[0].request.headers, expected);
}

TEST(Framing, BodiesAreLimited) {
  const auto refused = [](const std::string& bytes, size_t limit) {
    return read_at_once(bytes, 1000, limit).refused;
  };
  const std::string length = with_headers("Content-Length: 10\r\n") + "0123456789";
  const std::string chunks =
      with_headers("Transfer-Encoding: chunked\r\n") + "5\r\n01234\r\n5\r\n01234\r\n0\r\n\r\n";
  EXPECT_EQ(refused(length, 10), 0);
  EXPECT_EQ(refused(length, 9), 413);
  EXPECT_EQ(refused(chunks, 10), 0);
  EXPECT_EQ(refused(chunks, 9), 413);
}

TEST(Framing, HeadsAreLimited) {
  const auto refused = [](const std::string& bytes) { return read_at_once(bytes, 10'000).refused; };
  const std::string last = "\r\nHost: a\r\n\r\n";
  EXPECT_EQ(refused("GET /" + std::string(max_request_line - 16, 'a') + " HTTP/1.1" + last), 0);
  EXPECT_EQ(refused("GET /" + std::string(max_request_line - 15, 'a') + " HTTP/1.1" + last), 414);
  const std::string filled =
      with_headers("A: " + std::string(10'000 - with_headers("A: \r\n").size(), 'a') + "\r\n");
  EXPECT_EQ(filled.size(), 10'000u);
  EXPECT_EQ(refused(filled), 0);
  EXPECT_EQ(refused(with_headers("A: " + std::string(10'000, 'a') + "\r\n")), 431);
  std::string many;
  for (size_t i = 0; i < max_headers; ++i) many += "a:b\r\n";
  EXPECT_EQ(refused(with_headers(many)), 431);
  EXPECT_EQ(refused(with_headers(many.substr(5))), 0);
}

TEST(Framing, PiecesDoNotMatter) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes;
    for (uint64_t n = 1 + random.below(3); n > 0; --n) bytes += random_request(random);
    if (random.below(2) == 0) bytes = damaged_request(bytes, random);
    const RequestsRead whole = read_at_once(bytes, 2000, 300);
    const uint64_t longest = 1 + random.below(40);
    const RequestsRead pieces = read_in_pieces(bytes, 2000, 300, [&] { return random.below(longest) + 1; });
    ASSERT_TRUE(same_requests(whole, pieces)) << bytes;
  }
}

TEST(Framing, BytesMayComeOneByOne) {
  const std::string head = with_headers("Transfer-Encoding: chunked\r\n");
  for (const std::string& bytes : {head + "0\r\n\r\n", head + "1\r\na\r\n0\r\n\r\n", head + "000\r\n\r\n",
                                   with_headers("Content-Length: 3\r\n") + "abc"}) {
    const RequestsRead read = read_in_pieces(bytes, 1000, 1000, [] { return 1; });
    EXPECT_EQ(read.refused, 0) << bytes;
    EXPECT_EQ(read.requests.size(), 1u) << bytes;
  }
}

TEST(Framing, AcceptedRequestsHaveOneReading) {
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = damaged_request(random_request(random) + random_request(random), random);
    for (const auto& [request, begin, end] : read_at_once(bytes).requests) {
      ++accepted;
      const auto plain = strictly_parsed(bytes.substr(begin));
      ASSERT_TRUE(plain) << bytes;
      ASSERT_EQ(plain->size, end - begin) << bytes;
      ASSERT_EQ(plain->method, request.head_only ? "HEAD" : request.method);
      ASSERT_EQ(plain->body, request.body) << bytes;
      ASSERT_EQ(plain->headers.size(), request.headers.size());
    }
  }
  EXPECT_GT(accepted, 5000);
}

TEST(Framing, RandomRequestsAreAccepted) {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = random_request(random);
    const RequestsRead read = read_at_once(bytes);
    ASSERT_EQ(read.refused, 0) << bytes;
    ASSERT_EQ(read.requests.size(), 1u) << bytes;
  }
}

}  // namespace
}  // namespace dragoman::internal
