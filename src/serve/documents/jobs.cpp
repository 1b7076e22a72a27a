#include "serve/documents/jobs.h"

#include <exception>
#include <utility>

#include "serve/answers.h"
#include "serve/route.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

ServeError not_found() { return ServeError(404, "Document not found"); }

}  // namespace

DocumentJobs::Ticket DocumentJobs::begin(const std::string& name, const std::string& client, size_t bytes) {
  const Ticket ticket = {random_hex(16), random_hex(32)};
  auto place = files_.reserve(bytes, client);
  const std::lock_guard lock(mutex_);
  make_room();
  jobs_[ticket.id] = {.key = ticket.key, .status = {.name = name}, .place = std::move(place)};
  return ticket;
}

void DocumentJobs::finish(const std::string& id, std::future<TextResult>& result, std::string_view request) {
  std::shared_ptr<DownloadStore::Place> place;
  {
    const std::lock_guard lock(mutex_);
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;
    place = std::move(job->second.place);
  }
  std::string kept, failure;
  try {
    kept = files_.keep(*place, result.get().text);
  } catch (...) {
    failure = client_error(std::current_exception(), request).what();
  }
  const std::lock_guard lock(mutex_);
  Job& job = jobs_.at(id);
  job.status.done = true;
  job.status.error = failure;
  job.kept = kept;
  job.until = Clock::now() + files_.time();
}

void DocumentJobs::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(id);
}

DocumentJobs::Status DocumentJobs::status(const Ticket& ticket) const {
  const std::lock_guard lock(mutex_);
  return find(ticket).status;
}

std::string DocumentJobs::file(const Ticket& ticket) {
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    kept = find(ticket).kept;
    jobs_.at(ticket.id).fetched = true;
  }
  std::optional<std::string> bytes = files_.find(kept);
  if (!bytes) throw not_found();
  return *std::move(bytes);
}

const DocumentJobs::Job& DocumentJobs::find(const Ticket& ticket) const {
  const auto job = jobs_.find(ticket.id);
  if (job == jobs_.end() || !same_secret(job->second.key, ticket.key)) throw not_found();
  if (job->second.status.done && job->second.until <= Clock::now()) throw not_found();
  return job->second;
}

// Forgets those that have expired, and if that is not enough the oldest of those that nobody waits for any more. All
// others have a place among the kept files, whose number is limited.
void DocumentJobs::make_room() {
  const auto now = Clock::now();
  std::erase_if(jobs_, [&](const auto& job) { return job.second.status.done && job.second.until <= now; });
  while (jobs_.size() >= max_jobs) {
    auto oldest = jobs_.end();
    for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
      const bool needed = !job->second.status.done || !(job->second.fetched || job->second.kept.empty());
      if (!needed && (oldest == jobs_.end() || job->second.until < oldest->second.until)) oldest = job;
    }
    if (oldest == jobs_.end()) return;
    jobs_.erase(oldest);
  }
}

}  // namespace dragoman::internal
