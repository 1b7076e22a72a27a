// What all threads of a server share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <utility>

#include "http/population.h"
#include "http/server.h"

namespace dragoman::internal {

struct ServerState {
  ServerState(HttpSettings s, HttpHandler h)
      : settings(std::move(s)),
        handler(std::move(h)),
        population(settings.connections, settings.connections_of_one_address) {}

  const HttpSettings settings;
  const HttpHandler handler;
  Population population;
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
