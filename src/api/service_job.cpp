#include "api/service_job.h"

#include <algorithm>

namespace dragoman::internal {

void WaitingJobs::add(ServiceJobs::node_type job) {
  const ServiceJob& added = *job.mapped();
  InTurn& own = of_client_[added.request.client];
  if (!own.empty()) first_of_clients_.erase(*own.begin());
  own.emplace(added.turn.start, job.key());
  first_of_clients_.insert(*own.begin());
  if (added.deadline) by_deadline_.emplace(*added.deadline, job.key());
  jobs_.insert(std::move(job));
}

ServiceJobs::node_type WaitingJobs::take(uint64_t id) {
  ServiceJobs::node_type job = jobs_.extract(id);
  const auto own = of_client_.find(job.mapped()->request.client);
  first_of_clients_.erase(*own->second.begin());
  own->second.erase({job.mapped()->turn.start, id});
  if (own->second.empty()) {
    of_client_.erase(own);
  } else {
    first_of_clients_.insert(*own->second.begin());
  }
  if (job.mapped()->deadline) by_deadline_.erase({*job.mapped()->deadline, id});
  return job;
}

std::optional<std::pair<double, uint64_t>> WaitingJobs::next(
    const std::function<bool(uint64_t client)>& may_begin) const {
  const auto found = std::ranges::find_if(
      first_of_clients_, [&](const auto& turn) { return may_begin(jobs_.at(turn.second)->request.client); });
  return found == first_of_clients_.end() ? std::nullopt : std::optional(*found);
}

ServiceJobs::node_type WaitingJobs::take_expired(Clock::time_point now) {
  if (by_deadline_.empty() || by_deadline_.begin()->first > now) return {};
  return take(by_deadline_.begin()->second);
}

std::optional<WaitingJobs::Clock::time_point> WaitingJobs::oldest() const {
  if (jobs_.empty()) return std::nullopt;
  return jobs_.begin()->second->submitted;
}

}  // namespace dragoman::internal
