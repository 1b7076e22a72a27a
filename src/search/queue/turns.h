// Turns: in which order the requests of several clients begin. Start-time fair queueing (Goyal, Vin and Cheng, 1996):
// each request gets a virtual start time: the end of the client's previous request (its start plus its cost), or now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>

namespace dragoman::internal {

class Turns {
 public:
  // The start of a request that comes now.
  double next(uint64_t client, double cost);
  // The latest turn that has come.
  void reach(double start);
  // Clients whose last turn is remembered: at most some hundreds, however many come.
  size_t clients() const { return ends_.size(); }

 private:
  void evict_half();

  double now_ = 0;
  std::unordered_map<uint64_t, double> ends_;  // by client, of the last request's turn
};

// A place among those who wait: smaller starts come first, and of equal ones smaller ids.
struct WaitingTurn {
  double start = 0;
  uint64_t id = 0, client = 0;

  auto operator<=>(const WaitingTurn&) const = default;
};

// Those who wait. To find the next one takes no longer where a client has many.
class TurnQueue {
 public:
  void add(const WaitingTurn& turn);
  void remove(const WaitingTurn& turn);  // nothing where it is not there
  // The first whose client may begin; null: none.
  const WaitingTurn* next(const std::function<bool(uint64_t client)>& may_begin) const;

 private:
  std::unordered_map<uint64_t, std::set<WaitingTurn>> of_client_;
  std::set<WaitingTurn> first_;  // of each client
};

}  // namespace dragoman::internal
