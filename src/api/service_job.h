// A request between its submission and its end, and those that wait for their turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "dragoman/translator.h"
#include "search/translator.h"

namespace dragoman::internal {

struct ServiceJob {
  using Clock = std::chrono::steady_clock;

  Request request;
  SearchOptions options;
  std::vector<GivenTerm> terms;
  Clock::time_point submitted;
  Deadline deadline;
  Turn turn = {};
  std::function<void(std::future<dragoman::Translation>)> on_done;
  std::promise<dragoman::Translation> promise;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

using ServiceJobs =
    std::map<uint64_t, std::unique_ptr<ServiceJob>>;  // in the order in which they were submitted

// Finding the next one, one by its number, or the expired ones takes no longer where many wait.
class WaitingJobs {
 public:
  using Clock = ServiceJob::Clock;

  void add(ServiceJobs::node_type job);
  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  bool contains(uint64_t id) const { return jobs_.contains(id); }

  double next_turn() const { return by_turn_.begin()->first; }
  ServiceJobs::node_type take_next() { return take(by_turn_.begin()->second); }
  ServiceJobs::node_type take(uint64_t id);
  ServiceJobs::node_type take_expired(Clock::time_point now);  // an empty one where there is none
  std::optional<Clock::time_point> oldest() const;             // when it was submitted

 private:
  ServiceJobs jobs_;
  std::set<std::pair<double, uint64_t>> by_turn_;
  std::set<std::pair<Clock::time_point, uint64_t>> by_deadline_;
};

}  // namespace dragoman::internal
