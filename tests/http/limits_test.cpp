// Limits, timeouts, and what happens before a body is read.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "http/response_text.h"
#include "http/test_server.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

HttpSettings short_times() {
  HttpSettings settings;
  settings.header_time = settings.body_time = settings.write_time = settings.idle_time = milliseconds(200);
  return settings;
}

void expect_refused(HttpClient& client, int status) {
  const auto begin = Clock::now();
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, status);
  EXPECT_EQ(response->header("retry-after"), "1");
  EXPECT_EQ(response->header("connection"), "close");
  EXPECT_TRUE(client.closed());
  EXPECT_LT(Clock::now() - begin, seconds(5));
}

TEST(HttpLimits, ConnectionsInAll) {
  HttpSettings settings;
  settings.connections = 2;
  TestServer server({.handle = echo}, settings);
  HttpClient first = server.client(), second = server.client();
  ASSERT_TRUE(soon([&] { return server.counts().connections == 2; }));
  HttpClient third = server.client();
  expect_refused(third, 503);
  first.close();
  ASSERT_TRUE(soon([&] { return server.counts().connections == 1; }));
  HttpClient fourth = server.client();
  fourth.request("GET", "/");
  EXPECT_EQ(fourth.read()->status, 200);
  EXPECT_EQ(server.counts().refused, 1u);
}

TEST(HttpLimits, ConnectionsOfOneAddress) {
  HttpSettings settings;
  settings.connections_per_address = 1;
  TestServer server({.handle = echo}, settings);
  HttpClient first = server.client();
  ASSERT_TRUE(soon([&] { return server.counts().connections == 1; }));
  HttpClient second = server.client();
  second.request("GET", "/");
  expect_refused(second, 429);
}

TEST(HttpLimits, SlowHeaders) {
  TestServer server({.handle = echo}, short_times());
  HttpClient client = server.client();
  const auto begin = Clock::now();
  std::jthread slow([&](const std::stop_token& stop) {
    for (const char c : "GET / HTTP/1.1\r\nHost: " + std::string(400, 'a')) {  // eight seconds
      if (stop.stop_requested() || !client.send(std::string(1, c))) return;
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
  EXPECT_GE(Clock::now() - begin, milliseconds(200));
  EXPECT_LT(Clock::now() - begin, seconds(5));
}

TEST(HttpLimits, SilentAndIdleConnections) {
  TestServer server({.handle = echo}, short_times());
  HttpClient silent = server.client(), idle = server.client();
  idle.request("GET", "/");
  EXPECT_TRUE(idle.read());
  EXPECT_FALSE(silent.read());
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(idle.closed());
}

TEST(HttpLimits, SlowBody) {
  TestServer server({.handle = echo}, short_times());
  HttpClient client = server.client();
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 408);
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(server.counts().requests, 0u);
}

// Each pause is shorter than the limits, and two of them are longer.
TEST(HttpLimits, TimesAreThoseOfEachRequest) {
  HttpSettings settings;
  settings.header_time = settings.body_time = seconds(1);
  TestServer server({.handle = echo}, settings);
  HttpClient client = server.client();
  const auto pause = [] { std::this_thread::sleep_for(milliseconds(600)); };
  for (const bool is_first : {true, false}) {
    if (!is_first) pause();
    client.send("POST / HTTP/1.1\r\n");
    pause();
    client.send("Host: a\r\nContent-Length: 2\r\n\r\na");
    if (is_first) pause();
    client.send("b");
    const auto response = client.read();
    ASSERT_TRUE(response) << is_first;
    EXPECT_EQ(response->status, 200) << is_first;
  }
}

TEST(HttpLimits, ClientThatDoesNotReadAnAnswer) {
  HeldRequest held(short_times());
  held.responder.send({.body = std::string(64 << 20, 'a')});
  EXPECT_TRUE(held.disconnected());
  EXPECT_TRUE(soon([&] { return held.server.counts().connections == 0; }));
}

// The system's buffers take some of it.
TEST(HttpLimits, WhatFollowsARequestWaitsUntilItIsAnswered) {
  HeldRequest held;
  std::atomic<bool> sent = false;
  std::thread sender([&] { sent = held.client.send(std::string(64 << 20, 'a')); });
  EXPECT_FALSE(soon([&] { return sent.load(); }, seconds(1)));
  held.responder.send({});  // the rest is no request, and ends the connection
  sender.join();
}

TEST(HttpLimits, SlowWorkIsNotLate) {
  HeldRequest held(short_times());
  held.responder.begin({});
  std::this_thread::sleep_for(milliseconds(500));
  EXPECT_FALSE(held.request.disconnected.stop_requested());
  held.responder.end();
  EXPECT_TRUE(held.client.read());
}

TEST(HttpLimits, UnsentBytesOfAStream) {
  HttpSettings settings;
  settings.unsent_bytes = 1 << 20;
  HeldRequest held(settings);
  held.responder.begin({});
  size_t written = 0;
  const std::string piece(10'000, 'a');
  while (held.responder.write(piece)) ASSERT_LT(written += piece.size(), size_t{64} << 20);
  EXPECT_GE(written, size_t{900} << 10);
  EXPECT_TRUE(held.disconnected());  // the client is dropped
  EXPECT_FALSE(held.client.read());
}

TEST(HttpLimits, APieceOfAStreamMayBeLargerThanWhatMayWait) {
  HeldRequest held;
  held.responder.begin({});
  EXPECT_TRUE(held.responder.write("begin"));
  EXPECT_TRUE(held.responder.write(std::string(20 << 20, 'a')));
  EXPECT_GE(held.responder.unsent(), size_t{1} << 20);
  held.responder.end();
  const auto response = held.client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body.size(), 5 + (size_t{20} << 20));
}

TEST(HttpLimits, BodiesThatAreBufferedAtOnce) {
  Held held;
  HttpSettings settings;
  settings.buffered_bytes = 300 << 10;
  TestServer server(held.handler(), settings);
  const std::string large(200 << 10, 'a'), small(32 << 10, 'b');
  const auto refused = [](HttpClient& client) {
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->header("retry-after"), "1");
  };
  {
    HttpClient first = server.client(), second = server.client();
    first.request("POST", "/", large);
    const auto one = held.next();
    second.request("POST", "/", large);
    const auto other = held.next();  // beyond their small parts, 272 of 300 KiB
    EXPECT_EQ(server.counts().buffered_bytes, size_t{272} << 10);

    HttpClient third = server.client(), fourth = server.client(), fifth = server.client();
    third.send(fmt::format("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", large.size()));
    refused(third);  // before the body comes
    fourth.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    fourth.send(fmt::format("{:x}\r\n{}", large.size(), large));
    refused(fourth);
    fifth.request("POST", "/", small);
    held.next().responder.send({});
    EXPECT_EQ(fifth.read()->status, 200);
    one.responder.send({});
    EXPECT_TRUE(first.read());
    EXPECT_TRUE(soon([&] { return server.counts().buffered_bytes == size_t{136} << 10; }));
    first.request("POST", "/", large);
    held.next().responder.send({});
    EXPECT_EQ(first.read()->status, 200);
  }
  EXPECT_TRUE(soon([&] { return server.counts().buffered_bytes == 0; }));
}

TEST(HttpLimits, TheHandlerAnswersWhatIsRefusedAfterItsHead) {
  HttpSettings settings = short_times();
  settings.body_bytes = 100;
  TestServer server({.refused =
                         [](const IncomingRequest& head, int status, const std::string& sentence) {
                           return HttpResponse{.status = status,
                                               .body = head.path + " " + head.peer + ": " + sentence};
                         },
                     .handle = echo},
                    settings);
  const auto body = [&](const std::string& rest, int status) {
    HttpClient client = server.client();
    client.send("POST /a HTTP/1.1\r\nHost: a\r\n" + rest);
    const auto response = client.read();
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(response ? response->status : 0, status);
    return response ? response->body : "";
  };
  EXPECT_EQ(body("Content-Length: 101\r\n\r\n", 413),
            "/a 127.0.0.1: the request's body has 101 bytes; the limit is 100");
  EXPECT_EQ(body("Content-Length: 10\r\n\r\n12345", 408), "/a 127.0.0.1: the request's body took too long");
  EXPECT_EQ(body("Transfer-Encoding: chunked\r\n\r\n65\r\n", 413),
            "/a 127.0.0.1: the request's body is too large");
  EXPECT_EQ(body("Transfer-Encoding: chunked\r\n\r\nx\r\n", 400),
            "/a 127.0.0.1: a chunk does not begin with its size");
  EXPECT_EQ(server.counts().bad_requests, (std::map<int, uint64_t>{{400, 1}, {413, 1}}));
  EXPECT_EQ(body("Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400).front(), '{');  // no head is known
  EXPECT_EQ(body("", 408).front(), '{');
  EXPECT_EQ(server.counts().bad_requests, (std::map<int, uint64_t>{{400, 2}, {408, 1}, {413, 1}}));
}

TEST(HttpLimits, BodyIsRefusedBeforeItComes) {
  HttpSettings settings;
  settings.body_bytes = 100;
  TestServer server(
      {.admit = [](const IncomingRequest& head, size_t& body_bytes) -> std::optional<HttpResponse> {
         if (head.path == "/small") body_bytes = 10;
         if (head.path == "/large") body_bytes = 1000;
         if (head.path == "/no") return error_response(401, "no");
         if (head.path == "/throw") throw Error("unexpected");
         return {};
       },
       .handle = echo},
      settings);
  const auto status = [&](const std::string& path, size_t bytes) {
    HttpClient client = server.client();
    client.send(fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", path, bytes));
    const auto response = client.read();
    EXPECT_TRUE(client.closed());
    return response ? response->status : 0;
  };
  EXPECT_EQ(status("/", 101), 413);
  EXPECT_EQ(status("/small", 11), 413);
  EXPECT_EQ(status("/large", 1001), 413);
  EXPECT_EQ(status("/no", 10), 401);
  EXPECT_EQ(status("/throw", 10), 500);
  EXPECT_EQ(server.counts().requests, 0u);

  HttpClient client = server.client();
  client.request("GET", "/no");
  EXPECT_EQ(client.read()->status, 401);
  client.request("POST", "/large", std::string(1000, 'a'));  // no body was to follow: the connection lives
  EXPECT_EQ(client.read()->status, 200);
}

TEST(HttpLimits, RefusalReachesAClientThatSendsItsBodyFirst) {
  HttpSettings settings;
  settings.body_bytes = 100;
  TestServer server({.handle = echo}, settings);
  HttpClient client = server.client();
  ASSERT_TRUE(client.request("POST", "/", std::string(8 << 20, 'a')));
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
}

TEST(HttpLimits, ContinueIsSaidOnceTheRequestIsAdmitted) {
  HttpSettings settings;
  settings.body_bytes = 100;
  TestServer server({.handle = echo}, settings);
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ";
  HttpClient client = server.client();
  client.send(head + "3\r\n\r\n");
  EXPECT_EQ(client.read()->status, 100);
  client.send("abc");
  EXPECT_EQ(client.read()->body, "POST /\nabc");
  client.send(head + "3\r\n\r\nabc");  // the body is here already
  EXPECT_EQ(client.read()->status, 200);
  client.send(head + "101\r\n\r\n");
  EXPECT_EQ(client.read()->status, 413);
}

}  // namespace
}  // namespace dragoman::internal
