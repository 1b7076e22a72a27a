#include "serve/document_jobs.h"

#include <exception>

#include "serve/route.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto time_to_fetch = std::chrono::minutes(30);

ServeError not_found() { return ServeError(404, "Document not found"); }

}  // namespace

DocumentJobs::Ticket DocumentJobs::begin(const std::string& name) {
  const Ticket ticket = {random_hex(16), random_hex(32)};
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= max_jobs) forget_expired();
  if (jobs_.size() >= max_jobs)
    throw ServeError(429, "too many documents are being translated: try again later",
                     {{"retry-after", "60"}});
  jobs_[ticket.id] = {.key = ticket.key, .status = {.name = name, .since = Clock::now()}};
  return ticket;
}

void DocumentJobs::finish(const std::string& id, std::future<TextResult>& result) {
  Status status = {.done = true};
  std::string kept;
  try {
    kept = files_.keep(result.get().text);
  } catch (const std::exception& error) {
    status.error = error.what();
  }
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return files_.remove(kept);
  job->second.status.done = status.done;
  job->second.status.error = status.error;
  job->second.kept = kept;
  job->second.until = Clock::now() + time_to_fetch;
}

void DocumentJobs::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(id);
}

DocumentJobs::Status DocumentJobs::status(const Ticket& ticket) const {
  const std::lock_guard lock(mutex_);
  return find(ticket).status;
}

std::string DocumentJobs::file(const Ticket& ticket) const {
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    kept = find(ticket).kept;
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

void DocumentJobs::forget_expired() {
  const auto now = Clock::now();
  std::erase_if(jobs_, [&](const auto& job) { return job.second.status.done && job.second.until <= now; });
}

}  // namespace dragoman::internal
