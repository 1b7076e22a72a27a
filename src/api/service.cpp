#include "api/service.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>

#include "api/guard.h"
#include "api/options.h"
#include "api/request_terms.h"
#include "api/results.h"
#include "base/log.h"
#include "base/threads.h"

namespace dragoman::internal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kept_options = 16;
constexpr uint64_t first_own_client = uint64_t{1} << 63;  // above the numbers that callers choose

// What a request costs besides its length in bytes.
constexpr double base_cost = 16;

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

Service::Service(std::unique_ptr<SavedModel> model, const BatchLimits& limits)
    : model_(std::move(model)), limits_(limits), process_(getpid()), engine_(std::in_place, *model_, limits) {
  publish_statistics();
}

std::shared_ptr<Service> Service::start(std::unique_ptr<SavedModel> model, const BatchLimits& limits) {
  const std::shared_ptr<Service> service(new Service(std::move(model), limits));
  service->thread_ = start_thread([service] { service->work(); });
  return service;
}

void Service::stop() {
  if (getpid() != process_) return;  // the thread's share keeps it for ever
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (std::this_thread::get_id() == thread_.get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Service::check_process() const {
  if (getpid() != process_)
    throw Error(
        "this translator was opened before fork(), which copies no threads: open one in this process");
}

std::future<dragoman::Translation> Service::submit(Request request, OnDone on_done) {
  check_process();
  SearchOptions options = options_of(request);
  std::vector<GivenTerm> terms = given_terms(request);
  auto job = std::make_unique<ServiceJob>();
  job->request = std::move(request);
  job->submitted = Clock::now();
  job->options = std::move(options);
  job->terms = std::move(terms);
  job->deadline = deadline_after(job->request.timeout);
  if (job->request.client == 0) job->request.client = new_client();
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

// Most requests have the options of one of those before them, and reading these takes as long as a short translation's
// step.
SearchOptions Service::options_of(const Request& request) {
  const std::lock_guard lock(options_mutex_);
  const auto known =
      std::ranges::find(read_options_, request.options, &decltype(read_options_)::value_type::first);
  if (known != read_options_.end()) return known->second;
  read_options_.emplace_front(request.options, search_options(request.options, model_->search));
  if (read_options_.size() > kept_options) read_options_.pop_back();
  return read_options_.front().second;
}

uint64_t Service::new_client() {
  static std::atomic<uint64_t> next{first_own_client};
  return next++;
}

size_t Service::pending() const {
  if (getpid() != process_) return 0;
  const std::lock_guard lock(mutex_);
  return pending_;
}

TranslatorStatistics Service::statistics() const {
  if (getpid() != process_) return {};
  const std::lock_guard lock(mutex_);
  TranslatorStatistics now = statistics_;
  now.waiting += inbox_.jobs.size();
  std::optional<Clock::time_point> oldest = oldest_;
  if (!oldest && !inbox_.jobs.empty()) oldest = inbox_.jobs.begin()->second->submitted;
  if (oldest) now.oldest_seconds = std::chrono::duration<double>(Clock::now() - *oldest).count();
  return now;
}

void Service::run(ServiceTask task) {
  check_process();
  if (task.client == 0) task.client = new_client();
  std::future<void> done = task.done.get_future();
  {
    const std::lock_guard lock(mutex_);
    inbox_.tasks.push_back(std::move(task));
  }
  wake_.notify_all();
  done.get();
}

void Service::cancel_later(uint64_t id) {
  if (getpid() != process_) return;
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
    end_unwanted_tasks();
    step();
    publish_statistics();
  }
  while (!waiting_.empty()) end(std::move(waiting_.take(waiting_.next().second).mapped()), cancelled());
  for (auto& [turn, task] : tasks_) task.done.set_exception(cancelled());
  end_all_active(cancelled());
}

// Waits until there is something to do; false once the service is to end.
bool Service::receive() {
  Inbox inbox;
  bool stop;
  {
    std::unique_lock lock(mutex_);
    const bool idle = waiting_.empty() && tasks_.empty() && !engine_->busy();
    if (idle) wake_.wait(lock, [&] { return stop_ || !inbox_.empty(); });
    inbox = std::exchange(inbox_, {});
    stop = stop_;
  }
  turns_.reach(engine_->reached_turn());
  while (!inbox.jobs.empty()) {
    auto job = inbox.jobs.extract(inbox.jobs.begin());
    const Request& request = job.mapped()->request;
    job.mapped()->turn = turns_.next(request.client, base_cost + static_cast<double>(request.text.size()));
    waiting_.add(std::move(job));
  }
  for (const uint64_t id : inbox.cancelled) cancel(id);
  for (ServiceTask& task : inbox.tasks) {
    const Turn turn = turns_.next(task.client, base_cost + task.cost);
    tasks_.emplace(std::pair(turn.start, tasks_begun_++), std::move(task));
  }
  return !stop;
}

void Service::cancel(uint64_t id) {
  if (waiting_.contains(id)) return end(std::move(waiting_.take(id).mapped()), cancelled());
  if (active_.contains(id)) engine_->cancel(id);
}

void Service::expire_waiting() {
  const auto now = Clock::now();
  while (auto job = waiting_.take_expired(now)) end(std::move(job.mapped()), expired());
}

// No more than a batch at once: those whose translation is known end here, and others wait for their next step.
void Service::start_waiting() {
  for (int64_t left = limits_.sentences * limits_.searches; left > 0 && engine_->has_free_row(); --left) {
    const auto next = waiting_.next([&](uint64_t client) { return engine_->may_begin(client); });
    if (!next || next->first >= engine_->next_turn()) return;
    start(waiting_.take(next->second));
  }
}

void Service::end_unwanted_tasks() {
  const auto now = Clock::now();
  for (auto next = tasks_.begin(); next != tasks_.end();) {
    ServiceTask& task = next->second;
    const bool late = task.deadline && *task.deadline <= now;
    if (late || task.stop.stop_requested()) {
      task.done.set_exception(late ? expired() : cancelled());
      next = tasks_.erase(next);
    } else {
      ++next;
    }
  }
}

// While sentences are under way at most one between two steps, and all of them have no more time than the steps have.
void Service::run_next_task() {
  if (tasks_.empty()) return;
  const double turn = tasks_.begin()->first.first;
  const bool others_first =
      engine_->next_turn() < turn || (!waiting_.empty() && waiting_.next().first < turn);
  if (engine_->busy() && (owed_.count() > 0 || others_first)) return;
  turns_.reach(turn);
  ServiceTask task = std::move(tasks_.extract(tasks_.begin()).mapped());
  const auto began = Clock::now();
  std::exception_ptr error;
  engine_->run([&] {
    try {
      task.work();
    } catch (...) {
      error = std::current_exception();
    }
  });
  owed_ += Clock::now() - began;
  if (error) return task.done.set_exception(error);
  task.done.set_value();
}

void Service::start(ServiceJobs::node_type job) {
  const auto place = active_.insert(std::move(job)).position;
  const uint64_t id = place->first;
  const ServiceJob& started = *place->second;
  // A token that was triggered before the job arrived here has found nothing to cancel.
  if (started.request.stop.stop_requested()) return end_active(place, cancelled());
  std::exception_ptr error;
  try {
    engine_->add(id, {.text = started.request.text,
                      .prefix = started.request.prefix,
                      .terms = started.terms,
                      .options = started.options,
                      .deadline = started.deadline,
                      .progress = static_cast<bool>(started.request.on_progress),
                      .tokens = started.request.tokens,
                      .turn = started.turn,
                      .client = started.request.client});
  } catch (...) {
    error = current_error();
  }
  if (error)
    end_active(place, std::move(error));  // after the handler, which would hold the error beside the client
}

// What a step throws concerns all that it worked on, and leaves the engine in an unknown state.
void Service::step() {
  try {
    run_next_task();
    if (!engine_->busy()) {
      owed_ = {};
      return;
    }
    const auto began = Clock::now();
    std::vector<TranslationResult> results = engine_->step();
    owed_ = std::max<Clock::duration>(owed_ - (Clock::now() - began), {});
    report_progress();
    for (TranslationResult& result : results) deliver(std::move(result));
  } catch (...) {
    end_all_active(current_error());
    engine_.emplace(*model_, limits_);
  }
}

void Service::report_progress() {
  for (const TranslationProgress& progress : engine_->progress()) {
    const auto job = active_.find(progress.id);
    if (job == active_.end()) continue;
    std::exception_ptr error;
    try {
      job->second->request.on_progress({progress.text, progress.final_bytes});
    } catch (...) {
      error = std::current_exception();
    }
    if (!error) continue;
    engine_->cancel(progress.id);
    end_active(job, std::move(error));
  }
}

void Service::deliver(TranslationResult result) {
  const auto job = active_.find(result.id);
  if (job == active_.end()) return;  // ended before
  switch (result.status) {
    case SearchStatus::finished:
      job->second->promise.set_value(to_public(std::move(result.line)));
      return end_active(job, nullptr);
    case SearchStatus::cancelled:
      return end_active(job, cancelled());
    case SearchStatus::expired:
      return end_active(job, expired());
    case SearchStatus::failed:
      return end_active(job, error_of(ErrorKind::failure, result.error));
  }
}

// Without an error the promise has its value.
void Service::end(std::unique_ptr<ServiceJob> job, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    --pending_;
    ++statistics_.requests;
  }
  if (error) job->promise.set_exception(std::move(error));
  if (!job->on_done) return;
  try {
    job->on_done(job->promise.get_future());
  } catch (const std::exception& thrown) {
    log_warning("the callback of a translation threw an exception, which it must not: {}", thrown.what());
  } catch (...) {
    log_warning("the callback of a translation threw an exception, which it must not");
  }
}

void Service::end_active(ServiceJobs::iterator place, std::exception_ptr error) {
  std::unique_ptr<ServiceJob> job = std::move(place->second);
  active_.erase(place);
  end(std::move(job), std::move(error));
}

void Service::end_all_active(const std::exception_ptr& error) {
  while (!active_.empty()) end_active(active_.begin(), error);
}

void Service::publish_statistics() {
  const TranslatorCounts& counts = engine_->counts();
  const std::lock_guard lock(mutex_);
  oldest_ = waiting_.oldest();
  statistics_ = {.waiting = waiting_.size(),
                 .sentences = static_cast<size_t>(engine_->sentences_under_way()),
                 .batch = static_cast<size_t>(limits_.sentences * limits_.searches),
                 .requests = statistics_.requests,
                 .steps = engine_->steps(),
                 .source_tokens = counts.source_tokens,
                 .target_tokens = counts.target_tokens,
                 .merged = counts.merged,
                 .cache_hits = counts.cache_hits,
                 .cache_misses = counts.cache_misses,
                 .cache_bytes = engine_->cache_bytes()};
}

}  // namespace dragoman::internal
