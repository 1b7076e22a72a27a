// A request between its submission and its end, those that wait for their turn, and other work on the model.
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
#include <unordered_map>
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

  // The first turn, and whose it is: of all, and of those whose client may begin.
  std::pair<double, uint64_t> next() const { return *first_of_clients_.begin(); }
  std::optional<std::pair<double, uint64_t>> next(
      const std::function<bool(uint64_t client)>& may_begin) const;
  ServiceJobs::node_type take(uint64_t id);
  ServiceJobs::node_type take_expired(Clock::time_point now);  // an empty one where there is none
  std::optional<Clock::time_point> oldest() const;             // when it was submitted

 private:
  using InTurn = std::set<std::pair<double, uint64_t>>;

  ServiceJobs jobs_;
  std::unordered_map<uint64_t, InTurn> of_client_;
  InTurn first_of_clients_;  // each client's first
  std::set<std::pair<Clock::time_point, uint64_t>> by_deadline_;
};

// None where the timeout is 0, or longer than the clock can count.
inline Deadline deadline_after(std::chrono::milliseconds timeout) {
  using Clock = ServiceJob::Clock;
  const Clock::time_point now = Clock::now();
  const auto longest = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  if (timeout.count() <= 0 || timeout > longest) return std::nullopt;
  return now + timeout;
}

// Work on the model besides translations.
struct ServiceTask {
  uint64_t client = 0;
  Deadline deadline = {};
  std::stop_token stop = {};
  double cost = 0;
  std::function<void()> work;
  std::promise<void> done = {};
};

}  // namespace dragoman::internal
