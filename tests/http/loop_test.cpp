// Failures of single operations, as where memory is short, end neither accepting nor timeouts.
#include "http/beast/loop.h"

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "http/beast/listener.h"
#include "http/beast/transport.h"
#include "http/test_server.h"

namespace dragoman::internal {
namespace {

class RunningLoop {
 public:
  explicit RunningLoop(HttpHandler handler, HttpSettings settings = {})
      : loop_(
            std::make_shared<Loop>(std::make_shared<ServerState>(std::move(settings), std::move(handler)))) {}
  ~RunningLoop() {
    loop_->finish();
    if (thread_.joinable()) thread_.join();
  }
  void run() {
    thread_ = std::thread([this] { loop_->run(); });
  }
  const std::shared_ptr<Loop>& loop() const { return loop_; }

 private:
  const std::shared_ptr<Loop> loop_;
  std::thread thread_;
};

TEST(HttpLoop, AcceptsAfterAConnectionThatCannotBeMade) {
  std::unique_ptr<Listener> listener;  // outlives the loop's thread
  RunningLoop running({.handle = echo});
  int failures = 2;
  const auto make_transport = [&](tcp::socket socket) {
    if (failures-- > 0) throw std::bad_alloc();
    return plain_transport(std::move(socket));
  };
  listener = std::make_unique<Listener>(std::vector{running.loop()}, "127.0.0.1", 0, make_transport,
                                        /*encrypted=*/false);
  listener->start();
  running.run();
  for (int i = 0; i < 4; ++i) {
    HttpClient client(listener->port(), seconds(2));
    client.request("GET", "/");
    EXPECT_EQ(client.read().has_value(), i >= 2) << i;
  }
  EXPECT_EQ(running.loop()->state().accepted, 4u);
  asio::post(running.loop()->context(), [&] { listener->close(); });
}

// Late from the start; its first expiry fails.
class LateConnection : public LoopConnection {
 public:
  bool late(std::chrono::steady_clock::time_point) const override { return true; }
  void expire() override {
    if (++expired == 1) throw std::bad_alloc();
  }
  void close_if_idle() override {}
  void close() override {}

  std::atomic<int> expired = 0;
};

TEST(HttpLoop, TimesOutAfterATimeoutThatFailed) {
  HttpSettings settings;
  settings.idle_time = milliseconds(50);
  RunningLoop running({.handle = echo}, settings);
  const auto late = std::make_shared<LateConnection>();
  running.loop()->add(late);
  running.run();
  EXPECT_TRUE(soon([&] { return late->expired >= 3; }));
}

}  // namespace
}  // namespace dragoman::internal
