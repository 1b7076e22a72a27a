// What all threads of a server share.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include "http/server.h"

namespace dragoman::internal {

// The open connections, in all and of each address, and their limits.
class OpenConnections {
 public:
  OpenConnections(size_t max, size_t max_per_address) : max_(max), max_per_address_(max_per_address) {}

  enum class Verdict { admitted, full, too_many_of_address };
  Verdict add(const std::string& address);  // admitted: `remove` is to follow
  void remove(const std::string& address);
  size_t size() const;
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline) const;

 private:
  const size_t max_, max_per_address_;
  mutable std::mutex mutex_;
  mutable std::condition_variable empty_;
  size_t size_ = 0;
  std::map<std::string, size_t> per_address_;
};

struct ServerState {
  ServerState(HttpSettings s, HttpHandler h)
      : settings(std::move(s)),
        handler(std::move(h)),
        connections(settings.connections, settings.connections_per_address) {}

  const HttpSettings settings;
  const HttpHandler handler;
  OpenConnections connections;
  std::atomic<bool> draining = false;  // no connection is kept alive
  const uint64_t id_seed = std::random_device()();
  std::atomic<uint64_t> last_id = 0;
  std::atomic<size_t> refusing = 0;  // clients that are being refused
  std::atomic<uint64_t> accepted = 0, refused = 0, requests = 0, gone = 0;
  std::atomic<size_t> buffered_bytes = 0;

  void count_bad_request(int status) {
    const std::lock_guard lock(mutex_);
    ++bad_requests_[status];
  }
  std::map<int, uint64_t> bad_requests() const {
    const std::lock_guard lock(mutex_);
    return bad_requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, uint64_t> bad_requests_;  // by status
};

}  // namespace dragoman::internal
