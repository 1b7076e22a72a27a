// Requests and answers over a socket.
#include "http/server.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <netinet/in.h>

#include "base/error.h"
#include "base/random.h"
#include "http/request_samples.h"
#include "http/test_server.h"
#include "stack_size.h"

namespace dragoman::internal {
namespace {

TEST(HttpServer, AnswersRequestsOfOneConnectionInTurn) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.request("POST", "/a%20b?x=1&y=%C3%A9+z", "body"));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "POST /a b x=1 y=é z\nbody");
    EXPECT_EQ(response->header("content-type"), "text/plain");
    EXPECT_EQ(response->header("connection"), "");
    EXPECT_EQ(response->header("date").size(), 29u);
    EXPECT_EQ(response->header("server"), "");
  }
  EXPECT_EQ(server.counts().requests, 3u);
  EXPECT_EQ(server.counts().accepted, 1u);
}

TEST(HttpServer, SaysWhoAsksAndWhen) {
  Held held;
  TestServer server(held.handler());
  HttpClient client = server.client();
  const auto before = std::chrono::steady_clock::now();
  client.request("GET", "/", "", "X-Request-Id: a.B_c-1\r\nX-Other: 2\r\n");
  const auto [request, responder] = held.next();
  EXPECT_EQ(request.peer, "127.0.0.1");
  EXPECT_EQ(request.header("x-other"), "2");
  EXPECT_GE(request.received, before);
  EXPECT_LE(request.received, std::chrono::steady_clock::now());
  responder.send({.status = 204, .headers = {{"X-A", "b\r\nX-C: d"}}});
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(response->header("content-length"), "");
  EXPECT_EQ(response->header("x-request-id"), "a.B_c-1");
  EXPECT_EQ(response->header("x-a"), "b  X-C: d");  // values cannot make headers
}

TEST(HttpServer, GivesRequestsAnIdWhereTheirsIsNotFit) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  std::string last;
  for (const std::string& id :
       {std::string("a b"), std::string(65, 'a'), std::string("\"x\""), std::string()}) {
    client.request("GET", "/", "", "X-Request-Id: " + id + "\r\n");
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->header("x-request-id").size(), 16u);
    EXPECT_NE(response->header("x-request-id"), last);
    last = response->header("x-request-id");
  }
}

TEST(HttpServer, AnswersHeadAsGetWithoutTheBody) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  client.request("HEAD", "/a");
  const auto head = client.read(true);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->header("content-length"), "7");
  client.request("GET", "/%zz");
  const auto refusal = client.read();
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 400);
  EXPECT_EQ(refusal->header("content-length"), std::to_string(refusal->body.size()));
}

TEST(HttpServer, AnswersOptionsOfAll) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  client.request("OPTIONS", "*");
  const auto options = client.read();
  ASSERT_TRUE(options);
  EXPECT_EQ(options->body, "OPTIONS *\n");
}

TEST(HttpServer, StreamsInChunks) {
  Held held;
  TestServer server(held.handler());
  HttpClient client = server.client();
  for (int i = 0; i < 2; ++i) {
    client.request("GET", "/");
    const auto [request, responder] = held.next();
    responder.begin({.type = "text/event-stream"});
    const auto head = client.read_head();
    ASSERT_TRUE(head);
    EXPECT_EQ(head->header("content-type"), "text/event-stream");
    EXPECT_EQ(head->header("transfer-encoding"), "chunked");
    for (const char* text : {"one", "two\r\n", "three"}) {
      EXPECT_TRUE(responder.write(text));
      EXPECT_EQ(client.read_chunk(), text);  // at once, each
    }
    EXPECT_TRUE(responder.write(""));  // ends nothing
    responder.end();
    EXPECT_EQ(client.read_chunk(), "");
    EXPECT_FALSE(responder.write("more"));
  }
}

TEST(HttpServer, Http10EndsByClosingUnlessAskedToKeepAlive) {
  Held held;
  TestServer server(held.handler());
  HttpClient streamed = server.client();
  streamed.send("GET / HTTP/1.0\r\n\r\n");
  {
    const auto [request, responder] = held.next();
    responder.begin({});
    responder.write("a");
    responder.write("b");
    responder.end();
  }
  const auto response = streamed.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("transfer-encoding"), "");
  EXPECT_EQ(response->body, "ab");

  HttpClient kept = server.client();
  for (int i = 0; i < 2; ++i) {
    kept.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    held.next().responder.send({.body = "x"});
    const auto answer = kept.read();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header("connection"), "keep-alive");
    EXPECT_EQ(answer->body, "x");
  }
}

TEST(HttpServer, ClosesWhereTheClientAsksFor) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  client.request("GET", "/", "", "Connection: close\r\n");
  const auto response = client.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("connection"), "close");
  EXPECT_TRUE(client.closed());
}

TEST(HttpServer, AnswersInternalErrorWhereNobodyAnswers) {
  TestServer server({.handle = [](const IncomingRequest& request, const Responder&) {
    if (request.path == "/throw") throw Error("unexpected");
  }});
  HttpClient client = server.client();
  for (const char* path : {"/drop", "/throw"}) {
    client.request("GET", path);
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 500);
  }
}

TEST(HttpServer, BreaksOffAStreamThatNobodyEnds) {
  TestServer server({.handle = [](const IncomingRequest&, const Responder& responder) {
    responder.begin({});
    responder.write("a");
  }});
  HttpClient client = server.client();
  client.request("GET", "/");
  EXPECT_FALSE(client.read());  // no last chunk
  EXPECT_TRUE(client.closed());
}

TEST(HttpServer, LargeBodiesGoBothWays) {
  TestServer server({.handle = [](IncomingRequest request, const Responder& responder) {
    responder.send({.body = std::move(request.body)});
  }});
  HttpClient client = server.client();
  Random random(1);
  std::string body(8 << 20, ' ');
  for (char& c : body) c = static_cast<char>(random.word());
  std::thread sender([&] { client.request("POST", "/", body); });
  const auto response = client.read();
  sender.join();
  ASSERT_TRUE(response);
  EXPECT_TRUE(response->body == body);
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  // Answers come late and from other threads; each must wait for those before it.
  std::mutex mutex;
  std::vector<std::jthread> threads;
  TestServer server({.handle = [&](const IncomingRequest& request, const Responder& responder) {
    if (request.path.ends_with("0")) {
      const std::lock_guard lock(mutex);
      threads.emplace_back([=] { echo(request, responder); });
    } else {
      echo(request, responder);
    }
  }});
  HttpClient client = server.client();
  constexpr int requests = 1000;
  std::thread sender([&] {
    Random random(4);
    std::string text;
    for (int i = 0; i < requests; ++i) {
      const std::string body(static_cast<size_t>(random.below(300)), 'b');
      text += fmt::format("POST /{} HTTP/1.1\r\nHost: a\r\n", i);
      if (random.below(2) == 0)
        text += fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
      else
        text += "Transfer-Encoding: chunked\r\n\r\n" +
                (body.empty() ? "" : fmt::format("{:x}\r\n{}\r\n", body.size(), body)) + "0\r\n\r\n";
    }
    while (!text.empty()) {
      const size_t piece = std::min<size_t>(text.size(), 1 + random.below(3000));
      client.send(text.substr(0, piece));
      text.erase(0, piece);
    }
  });
  for (int i = 0; i < requests; ++i) {
    const auto response = client.read();
    if (!response) {
      ADD_FAILURE() << i;
      break;
    }
    EXPECT_TRUE(response->body.starts_with(fmt::format("POST /{}\n", i))) << i << ": " << response->body;
  }
  sender.join();
}

TEST(HttpServer, RefusesBadRequestsAndCloses) {
  TestServer server({.handle = echo});
  size_t refused = 0;
  for (const RefusedSample& sample : refused_samples()) {
    HttpClient client = server.client();
    client.send(sample.bytes);
    auto response = client.read();
    ASSERT_TRUE(response) << sample.bytes;
    ASSERT_EQ(response->status, sample.status) << sample.bytes;
    ASSERT_EQ(response->header("connection"), "close");
    ASSERT_TRUE(client.closed()) << sample.bytes;
    ++refused;
  }
  EXPECT_EQ(server.counts().requests, 0u);
  size_t counted = 0;
  for (const auto& [status, count] : server.counts().bad_requests) counted += count;
  EXPECT_EQ(counted, refused);
}

// A connection to ::1.
class ClientOverIPv6 {
 public:
  explicit ClientOverIPv6(int port) : socket_(socket(AF_INET6, SOCK_STREAM, 0)) {
    const timeval patience = {.tv_sec = 10, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<uint16_t>(port));
    address.sin6_addr = in6addr_loopback;
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~ClientOverIPv6() { close(socket_); }
  ClientOverIPv6(const ClientOverIPv6&) = delete;
  ClientOverIPv6& operator=(const ClientOverIPv6&) = delete;

  // What a request is answered, up to the status.
  std::string ask() const {
    constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(send(socket_, request.data(), request.size(), MSG_NOSIGNAL), std::ssize(request));
    std::string answer(12, ' ');
    const ssize_t n = recv(socket_, answer.data(), answer.size(), MSG_WAITALL);
    return answer.substr(0, static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }

 private:
  const int socket_;
};

TEST(HttpServer, ListensOnIPv6AndLocalhost) {
  for (const char* host : {"localhost", "::1", "0.0.0.0", "::"}) {
    HttpSettings settings;
    settings.host = host;
    settings.connections_per_address = 1;
    std::optional<TestServer> server;
    try {
      server.emplace(HttpHandler{.handle = echo}, settings);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(host), "::1") << error.what();  // a system without IPv6
      continue;
    }
    if (std::string(host) == "::1") {
      const ClientOverIPv6 first(server->port()), second(server->port());
      EXPECT_EQ(first.ask(), "HTTP/1.1 200");
      EXPECT_EQ(second.ask(), "HTTP/1.1 429");
      continue;
    }
    HttpClient client = server->client();
    client.request("GET", "/");
    EXPECT_TRUE(client.read()) << host;
  }
}

TEST(HttpServer, SaysWhyItCannotListen) {
  TestServer server({.handle = echo});
  const auto error_of = [](const std::string& host, int port) -> std::string {
    HttpServer other({.host = host, .port = port}, {.handle = echo});
    try {
      other.start();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("127.0.0.1", server.port()),
            fmt::format("127.0.0.1:{}: the port is in use: choose another one", server.port()));
  EXPECT_EQ(error_of("192.0.2.1", 0),
            "192.0.2.1: cannot listen on this address: this machine does not have it");
  EXPECT_TRUE(error_of("no such host", 0).starts_with("no such host: "));
}

TEST(HttpServer, SaysThatTheSystemRefusesItsThreads) {
  HttpServer server({.port = 0}, {.handle = echo});
  const StackSize none_fits(whole_address_space);
  EXPECT_THROW(server.start(), Error);
}

}  // namespace
}  // namespace dragoman::internal
