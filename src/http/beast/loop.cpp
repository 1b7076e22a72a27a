#include "http/beast/loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"

namespace dragoman::internal {
namespace {

// One timer for all connections: a tenth of the shortest limit is exact enough, and costs less than a timer each.
std::chrono::milliseconds tick_period(const HttpSettings& settings) {
  using std::chrono::milliseconds;
  const auto shortest =
      std::min({settings.header_time, settings.body_time, settings.write_time, settings.idle_time});
  return std::clamp(shortest / 10, milliseconds(5), milliseconds(250));
}

}  // namespace

Loop::Loop(std::shared_ptr<ServerState> state)
    : state_(std::move(state)), period_(tick_period(state_->settings)) {
  tick();
}

void Loop::run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::exception&
                 error) {  // too little memory, most likely: it fails one operation and not the rest
      log_warning("an operation of the server failed: {}", error.what());
    }
  }
}

void Loop::tick() {
  timer_.expires_after(period_);
  timer_.async_wait([this](error_code error) {
    if (error || finished_) return;
    tick();  // first: what follows may throw
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::shared_ptr<LoopConnection>> late;  // who closes leaves connections_
    for (const auto& connection : connections_)
      if (connection->late(now)) late.push_back(connection);
    for (const auto& connection : late) connection->expire();
  });
}

void Loop::drain_idle() {
  asio::post(context_, [this] {
    for (const auto& connection : std::vector(connections_.begin(), connections_.end()))
      connection->close_if_idle();
  });
}

void Loop::finish() {
  asio::post(context_, [this] {
    finished_ = true;
    timer_.cancel();
    for (const auto& connection : std::vector(connections_.begin(), connections_.end())) connection->close();
  });
}

void Loop::add(const std::shared_ptr<LoopConnection>& connection) {
  connections_.insert(connection);
  if (finished_) connection->close();
}

void Loop::remove(const std::shared_ptr<LoopConnection>& connection) { connections_.erase(connection); }

}  // namespace dragoman::internal
