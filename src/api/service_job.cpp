#include "api/service_job.h"

namespace dragoman::internal {

void WaitingJobs::add(ServiceJobs::node_type job) {
  const ServiceJob& added = *job.mapped();
  by_turn_.emplace(added.turn.start, job.key());
  if (added.deadline) by_deadline_.emplace(*added.deadline, job.key());
  jobs_.insert(std::move(job));
}

ServiceJobs::node_type WaitingJobs::take(uint64_t id) {
  ServiceJobs::node_type job = jobs_.extract(id);
  by_turn_.erase({job.mapped()->turn.start, id});
  if (job.mapped()->deadline) by_deadline_.erase({*job.mapped()->deadline, id});
  return job;
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
