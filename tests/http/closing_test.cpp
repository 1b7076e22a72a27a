// Clients that go away, and a server that stops.
#include <future>

#include <gtest/gtest.h>

#include "http/test_server.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

TEST(HttpGone, AClientThatClosesIsNoticedAtOnce) {
  Held held;
  TestServer server(held.handler());
  for (const bool reset : {false, true}) {
    HttpClient client = server.client();
    client.request("GET", "/");
    const auto [request, responder] = held.next();
    EXPECT_FALSE(request.disconnected.stop_requested());
    reset ? client.reset() : client.close();
    EXPECT_TRUE(soon([&request = request] { return request.disconnected.stop_requested(); })) << reset;
    responder.send({.body = "late"});
  }
  EXPECT_EQ(server.counts().gone, 2u);
  EXPECT_TRUE(soon([&] { return server.counts().connections == 0; }));
}

TEST(HttpGone, AClientThatResetsAfterManyPipelinedRequestsIsNoticed) {
  HeldRequest held;
  ASSERT_TRUE(held.client.send(std::string(64 << 10, 'a')));  // more than is read behind a request
  std::this_thread::sleep_for(milliseconds(50));
  held.client.reset();
  EXPECT_TRUE(held.disconnected());
}

TEST(HttpGone, AClientThatLeavesAStreamIsNoticed) {
  HeldRequest held;
  held.responder.begin({});
  EXPECT_TRUE(held.responder.write("a"));
  EXPECT_TRUE(held.client.read_head());
  held.client.close();
  EXPECT_TRUE(soon([&] { return !held.responder.write("a"); }));
  EXPECT_TRUE(held.request.disconnected.stop_requested());
}

TEST(HttpGone, AClientThatOnlyEndsItsOutputGetsItsAnswer) {
  Held held;
  TestServer server(held.handler());
  for (const char* version : {"1.0", "1.1"}) {
    HttpClient client = server.client();
    client.send(fmt::format("GET / HTTP/{}\r\nHost: a\r\n\r\n", version));
    client.end_output();
    const auto [request, responder] = held.next();
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_FALSE(request.disconnected.stop_requested());
    responder.send({.body = "answer"});
    auto response = client.read();
    if (response && response->status == 100) response = client.read();
    ASSERT_TRUE(response) << version;
    EXPECT_EQ(response->body, "answer");
    EXPECT_TRUE(client.closed());
  }
}

TEST(HttpGone, PipelinedRequestsAreAnsweredAfterTheClientEndsItsOutput) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  for (const char* path : {"/a", "/b", "/c"}) client.request("GET", path);
  client.end_output();
  for (const char* path : {"/a", "/b", "/c"}) {
    auto response = client.read();
    if (response && response->status == 100) response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, fmt::format("GET {}\n", path));
  }
  EXPECT_TRUE(client.closed());
}

TEST(HttpGone, ACallbackMayAnswer) {
  HeldRequest held;
  std::atomic<bool> called = false;
  const std::stop_callback callback(held.request.disconnected, [&] {
    held.responder.send({});
    called = true;
  });
  held.client.close();
  EXPECT_TRUE(soon([&] { return called.load(); }));
}

TEST(HttpStop, WaitsForWhatWasAccepted) {
  Held held;
  TestServer server(held.handler());
  HttpClient idle = server.client(), busy = server.client();
  busy.request("GET", "/");
  const auto [request, responder] = held.next();
  std::thread late([&responder = responder] {
    std::this_thread::sleep_for(milliseconds(600));
    responder.send({.body = "answer"});
  });
  EXPECT_TRUE(server.stop(seconds(10)));
  late.join();
  const auto response = busy.read();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "answer");
  EXPECT_EQ(response->header("connection"), "close");
  EXPECT_TRUE(busy.closed());
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(server.client().connected());
}

TEST(HttpStop, RequestsThatComeAsItBeginsAreAnswered) {
  TestServer server({.handle = echo});
  HttpClient client = server.client();
  client.request("GET", "/");
  EXPECT_TRUE(client.read());
  std::thread stop([&] { EXPECT_TRUE(server.stop(seconds(5))); });
  EXPECT_TRUE(soon([&] { return !server.client().connected(); }));
  client.request("GET", "/");
  const auto response = client.read();
  stop.join();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->header("connection"), "close");
}

TEST(HttpStop, ConnectionsThatWaitToBeAcceptedAreServed) {
  std::promise<void> asked, go;
  const auto busy = [&, first = true](IncomingRequest, Responder responder) mutable {
    if (std::exchange(first, false)) {  // the only thread cannot accept meanwhile
      asked.set_value();
      go.get_future().wait();
    }
    responder.send({});
  };
  TestServer server({.handle = busy}, {.threads = 1});
  HttpClient first = server.client();
  first.request("GET", "/");
  asked.get_future().wait();
  std::vector<HttpClient> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(server.client());
    others.back().request("GET", "/");
  }
  std::thread stop([&] { EXPECT_TRUE(server.stop(seconds(10))); });
  std::this_thread::sleep_for(milliseconds(100));
  go.set_value();
  for (HttpClient& other : others) EXPECT_TRUE(other.read());
  stop.join();
}

TEST(HttpStop, SaysWhereItDidNotEndInTime) {
  HeldRequest held;
  const auto begin = Clock::now();
  EXPECT_FALSE(held.server.stop(milliseconds(500)));
  EXPECT_LT(Clock::now() - begin, seconds(3));
}

TEST(HttpStop, AnswersAfterTheServersEndDoNothing) {
  Held held;
  std::optional<Held::One> kept;
  {
    TestServer server(held.handler());
    HttpClient client = server.client();
    client.request("GET", "/");
    kept = held.next();
  }
  EXPECT_TRUE(kept->request.disconnected.stop_requested());
  kept->responder.begin({});
  EXPECT_FALSE(kept->responder.write("a"));
  kept->responder.end();
}

TEST(HttpStop, ManyClientsAndThreadsAtOnce) {
  std::mutex mutex;
  std::condition_variable came;
  std::vector<std::pair<IncomingRequest, Responder>> queue;
  bool done = false;
  HttpSettings settings;
  settings.threads = 3;
  std::optional<TestServer> server;
  server.emplace(HttpHandler{.handle =
                                 [&](IncomingRequest request, Responder responder) {
                                   const std::lock_guard lock(mutex);
                                   queue.emplace_back(std::move(request), std::move(responder));
                                   came.notify_one();
                                 }},
                 settings);
  const auto work = [&] {
    for (std::unique_lock lock(mutex);;) {
      came.wait(lock, [&] { return done || !queue.empty(); });
      if (queue.empty()) return;
      auto [request, responder] = std::move(queue.back());
      queue.pop_back();
      lock.unlock();
      if (request.path == "/stream") {
        responder.begin({});
        for (int i = 0; i < 10; ++i) responder.write("some text");
        responder.end();
      } else if (request.path != "/drop") {
        echo(request, responder);
      }
      lock.lock();
    }
  };
  std::vector<std::thread> workers, clients;
  for (int i = 0; i < 3; ++i) workers.emplace_back(work);
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&, i] {
      for (int round = 0; round < 30; ++round) {
        HttpClient client = server->client(seconds(5));
        for (const char* path : {"/stream", "/drop", "/"}) client.request("GET", path);
        if ((i + round) % 3 == 0) continue;  // leaves at once
        for (int k = 0; k < 3 && client.read(); ++k) ++answered;
      }
    });
  std::this_thread::sleep_for(milliseconds(300));
  server->stop(seconds(5));
  for (std::thread& client : clients) client.join();  // which use the server
  server.reset();
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  came.notify_all();
  for (std::thread& worker : workers) worker.join();
  EXPECT_GT(answered, 0);
}

}  // namespace
}  // namespace dragoman::internal
