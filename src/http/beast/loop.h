// Loop: one thread's share of the connections. A connection stays with its loop, so that nothing of it is locked.
#pragma once

#include <chrono>
#include <memory>
#include <unordered_set>

#include "http/beast/asio.h"
#include "http/server_state.h"

namespace dragoman::internal {

// A connection, as its loop sees it.
class LoopConnection {
 public:
  virtual ~LoopConnection() = default;
  virtual bool late(std::chrono::steady_clock::time_point now) const = 0;
  virtual void expire() = 0;  // what to do about being late
  virtual void close_if_idle() = 0;
  virtual void close() = 0;
};

// Pending answers share ownership of their loop: one that comes after the server's end can still be posted, but is
// never run.
class Loop {
 public:
  explicit Loop(std::shared_ptr<ServerState> state);

  // From any thread.
  void run();         // until `finish` has been called and the connections are closed
  void drain_idle();  // closes the connections that wait for a request
  void finish();      // closes all connections

  asio::io_context& context() { return context_; }
  ServerState& state() { return *state_; }
  std::shared_ptr<ServerState> shared_state() { return state_; }

  // On the loop's thread.
  void add(const std::shared_ptr<LoopConnection>& connection);
  void remove(const std::shared_ptr<LoopConnection>& connection);

 private:
  void tick();

  const std::shared_ptr<ServerState> state_;
  const std::chrono::milliseconds period_;  // how exact deadlines are
  asio::io_context context_{1};
  asio::steady_timer timer_{context_};
  std::unordered_set<std::shared_ptr<LoopConnection>> connections_;
  bool finished_ = false;
};

}  // namespace dragoman::internal
