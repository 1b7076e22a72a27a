// What all threads of a server share.
#pragma once

#include <atomic>
#include <cstdint>
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
  std::atomic<uint64_t> accepted = 0, refused = 0, bad_requests = 0, requests = 0, gone = 0;
};

}  // namespace dragoman::internal
