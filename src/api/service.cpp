#include "api/service.h"

#include <chrono>
#include <stop_token>

#include "api/guard.h"
#include "api/request_options.h"
#include "api/results.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

std::exception_ptr error_of(ErrorKind kind, const std::string& message) {
  return std::make_exception_ptr(dragoman::Error(message, kind));
}

std::exception_ptr cancelled() {
  return error_of(ErrorKind::cancelled, "the translation was cancelled before it was done");
}

std::exception_ptr expired() {
  return error_of(ErrorKind::expired, "the translation was not done within its timeout");
}

std::exception_ptr current_error() {
  try {
    rethrow_as_public();
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

struct Service::Job {
  Request request;
  SearchOptions options;
  Deadline deadline;
  OnDone on_done;
  std::promise<dragoman::Translation> promise;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

Service::Service(std::unique_ptr<SavedModel> model, const BatchLimits& limits)
    : model_(std::move(model)),
      limits_(limits),
      last_read_(model_->search),
      engine_(std::in_place, *model_, limits) {
  thread_ = start_thread([this] { work(); });
}

Service::~Service() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::future<dragoman::Translation> Service::submit(Request request, OnDone on_done) {
  SearchOptions options = options_of(request);
  Deadline deadline;
  if (request.timeout.count() > 0) deadline = Clock::now() + request.timeout;
  auto job = std::make_unique<Job>();
  job->request = std::move(request);
  job->options = std::move(options);
  job->deadline = deadline;
  job->on_done = std::move(on_done);
  std::future<dragoman::Translation> future;
  if (!job->on_done) future = job->promise.get_future();
  uint64_t id;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    ++pending_;
  }
  // The callback may run at once: without the lock, and before the thread can destroy the job.
  if (job->request.stop.stop_possible())
    job->on_stop.emplace(job->request.stop, [this, id] { cancel_later(id); });
  {
    const std::lock_guard lock(mutex_);
    inbox_.jobs.emplace(id, std::move(job));
  }
  wake_.notify_all();
  return future;
}

// Most requests have the options of the one before them, and reading these takes as long as a short translation's step.
SearchOptions Service::options_of(const Request& request) {
  const std::lock_guard lock(options_mutex_);
  if (request.options != last_given_) {
    last_read_ = search_options(request.options, model_->search);
    last_given_ = request.options;
  }
  return last_read_;
}

size_t Service::pending() const {
  const std::lock_guard lock(mutex_);
  return pending_;
}

void Service::run(const std::function<void()>& task) {
  std::future<void> done;
  {
    const std::lock_guard lock(mutex_);
    done = inbox_.tasks.emplace_back(task).get_future();
  }
  wake_.notify_all();
  done.get();
}

void Service::cancel_later(uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.cancelled.push_back(id);
  }
  wake_.notify_all();
}

void Service::work() {
  while (receive()) {
    expire_waiting();
    start_waiting();
    step();
  }
  end_all(waiting_, cancelled());
  end_all(active_, cancelled());
}

// Waits until there is something to do; false once the service is to end.
bool Service::receive() {
  Inbox inbox;
  bool stop;
  {
    std::unique_lock lock(mutex_);
    const bool idle = waiting_.empty() && !engine_->busy();
    if (idle) wake_.wait(lock, [&] { return stop_ || !inbox_.empty(); });
    inbox = std::exchange(inbox_, {});
    stop = stop_;
  }
  waiting_.merge(inbox.jobs);
  for (const uint64_t id : inbox.cancelled) cancel(id);
  for (auto& task : inbox.tasks) task();
  return !stop;
}

void Service::cancel(uint64_t id) {
  if (const auto job = waiting_.find(id); job != waiting_.end()) return end(waiting_, job, cancelled());
  if (active_.contains(id)) engine_->cancel(id);
}

void Service::expire_waiting() {
  const auto now = Clock::now();
  for (auto job = waiting_.begin(); job != waiting_.end();) {
    const auto next = std::next(job);
    if (job->second->deadline && *job->second->deadline <= now) end(waiting_, job, expired());
    job = next;
  }
}

void Service::start_waiting() {
  while (!waiting_.empty() && engine_->has_room()) {
    start(waiting_.extract(waiting_.begin()));
  }
}

void Service::start(Jobs::node_type job) {
  const auto place = active_.insert(std::move(job)).position;
  const uint64_t id = place->first;
  const Job& started = *place->second;
  // A token that was triggered before the job arrived here has found nothing to cancel.
  if (started.request.stop.stop_requested()) return end(active_, place, cancelled());
  try {
    engine_->add(id, {.text = started.request.text,
                      .prefix = started.request.prefix,
                      .options = started.options,
                      .deadline = started.deadline,
                      .progress = static_cast<bool>(started.request.on_progress),
                      .tokens = started.request.tokens});
  } catch (...) {
    end(active_, place, current_error());
  }
}

// What a step throws concerns all that it worked on, and leaves the engine in no known state.
void Service::step() {
  if (!engine_->busy()) return;
  try {
    std::vector<TranslationResult> results = engine_->step();
    report_progress();
    for (TranslationResult& result : results) deliver(std::move(result));
  } catch (...) {
    end_all(active_, current_error());
    engine_.emplace(*model_, limits_);
  }
}

void Service::report_progress() {
  for (const TranslationProgress& progress : engine_->progress()) {
    const auto job = active_.find(progress.id);
    if (job == active_.end()) continue;
    try {
      job->second->request.on_progress({progress.text, progress.final_bytes});
    } catch (...) {
      engine_->cancel(progress.id);
      end(active_, job, std::current_exception());
    }
  }
}

void Service::deliver(TranslationResult result) {
  const auto job = active_.find(result.id);
  if (job == active_.end()) return;  // ended before
  switch (result.status) {
    case SearchStatus::finished:
      job->second->promise.set_value(to_public(std::move(result.line)));
      return end(active_, job, nullptr);
    case SearchStatus::cancelled:
      return end(active_, job, cancelled());
    case SearchStatus::expired:
      return end(active_, job, expired());
    case SearchStatus::failed:
      return end(active_, job, error_of(ErrorKind::failure, result.error));
  }
}

// Without an error the promise has its value.
void Service::end(Jobs& among, Jobs::iterator place, std::exception_ptr error) {
  const std::unique_ptr<Job> job = std::move(place->second);
  among.erase(place);
  {
    const std::lock_guard lock(mutex_);
    --pending_;
  }
  if (error) job->promise.set_exception(std::move(error));
  if (job->on_done) job->on_done(job->promise.get_future());
}

void Service::end_all(Jobs& jobs, const std::exception_ptr& error) {
  while (!jobs.empty()) end(jobs, jobs.begin(), error);
}

}  // namespace dragoman::internal
