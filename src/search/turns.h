// Turns: in which order the requests of several clients begin. Start-time fair queueing (Goyal, Vin and Cheng, 1996):
// each request gets a virtual start time: the end of the client's previous request (its start plus its cost), or now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace dragoman::internal {

// Of a request: those with smaller starts come first. A request of several sentences begins them one by one, each later
// by its share of the cost.
struct Turn {
  double start = 0, cost = 1;
};

class Turns {
 public:
  // Of a request that comes now.
  Turn next(uint64_t client, double cost);
  // The latest turn that has come.
  void reach(double start);
  // Clients whose last turn is remembered: at most some hundreds, however many come.
  size_t clients() const { return ends_.size(); }

 private:
  void evict_half();

  double now_ = 0;
  std::unordered_map<uint64_t, double> ends_;  // by client, of the last request's turn
};

}  // namespace dragoman::internal
