#include "search/parallel_search.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "base/threads.h"

namespace dragoman::internal {
namespace {

// How long a caller may be kept from adding new requests: short beside a step of a full batch.
constexpr std::chrono::milliseconds moment(5);

}  // namespace

int worker_count(int64_t workers, int64_t batch, int threads) {
  if (workers > 0) return static_cast<int>(workers);
  return batch == 1 ? 1 : std::min(threads, 8);
}

// The first one uses the models themselves and, until there is another, runs on the caller's thread.
struct ParallelSearch::Worker {
  std::unique_ptr<Device> own_device;
  std::vector<std::unique_ptr<Transformer>> own_models;
  std::optional<Search> search;
  int64_t unfinished = 0;                       // requests that it was dealt
  std::vector<Task> dealt;                      // those that it has not yet seen
  std::vector<uint64_t> cancelled;              // before those
  const std::function<void()>* task = nullptr;  // that the caller of run() waits for
  bool failed = false;                          // its thread has ended
  std::thread thread;

  Context& context(const Models& models) const {
    return own_device ? own_device->context : models[0]->device.context;
  }

  void take_dealt() {
    for (const uint64_t id : std::exchange(cancelled, {})) search->cancel(id);
    for (Task& given : std::exchange(dealt, {})) search->add(given.id, std::move(given.request));
  }

  // Models on a device of their own that borrow the weights of these.
  Models borrow(const Models& models, int threads) {
    own_device = std::make_unique<Device>(models[0]->device, threads);
    Models borrowed;
    for (const Transformer* model : models) {
      own_models.push_back(std::make_unique<Transformer>(model->config, *own_device, Buffers::none_yet));
      borrowed.push_back(own_models.back().get());
      borrowed.back()->parameters.borrow(model->parameters);
    }
    return borrowed;
  }
};

ParallelSearch::ParallelSearch(const Models& models, const SearchSettings& settings, int searches)
    : models_(models), settings_(settings), max_workers_(static_cast<size_t>(searches)) {
  add_worker();
}

ParallelSearch::~ParallelSearch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  dealt_.notify_all();
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
  context().limit_threads(context().threads());
}

int64_t ParallelSearch::room() const {
  return settings_.sentences * static_cast<int64_t>(max_workers_) - unfinished_;
}

void ParallelSearch::add(uint64_t id, SearchRequest request) {
  deadlines_ |= request.deadline.has_value();
  waiting_.push_back({id, std::move(request)});
  ++unfinished_;
}

void ParallelSearch::cancel(uint64_t id) {
  const auto has_id = [id](const Task& task) { return task.id == id; };
  end_waiting(SearchStatus::cancelled, has_id);
  const std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) {
    if (std::erase_if(worker->dealt, has_id) > 0) {
      --worker->unfinished;
      ended_.push_back({id, SearchStatus::cancelled});
    } else if (worker->unfinished > 0) {
      worker->cancelled.push_back(id);
    }
  }
}

void ParallelSearch::expire() {
  if (!deadlines_) return;
  const auto now = std::chrono::steady_clock::now();
  end_waiting(SearchStatus::expired,
              [now](const Task& task) { return task.request.deadline && *task.request.deadline <= now; });
}

void ParallelSearch::end_waiting(SearchStatus status, const std::function<bool(const Task&)>& affected) {
  for (const Task& task : waiting_)
    if (affected(task)) ended_.push_back({task.id, status});
  std::erase_if(waiting_, affected);
}

std::vector<SearchResult> ParallelSearch::step() {
  expire();
  std::vector<SearchResult> results = workers_[0]->thread.joinable() ? others_results() : own_results();
  std::ranges::move(std::exchange(ended_, {}), std::back_inserter(results));
  unfinished_ -= std::ssize(results);
  return results;
}

// The first step always runs on the caller's thread: the packed weights that it keeps are there for all to borrow.
std::vector<SearchResult> ParallelSearch::own_results() {
  Worker& worker = *workers_[0];
  deal_out();
  worker.take_dealt();
  publish(worker, worker.search->step());
  std::vector<SearchResult> results =
      std::exchange(results_, {});  // once it has started they are its thread's, too
  if (!waiting_.empty() && max_workers_ > 1 && !start(worker)) max_workers_ = 1;
  return results;
}

std::vector<SearchResult> ParallelSearch::others_results() {
  std::unique_lock lock(mutex_);
  deal_out();
  for (; !waiting_.empty() && workers_.size() < max_workers_; deal_out()) {
    if (start(add_worker())) continue;
    workers_.pop_back();
    max_workers_ = workers_.size();
  }
  dealt_.notify_all();
  done_.wait_for(lock, moment, [&] { return !results_.empty() || !ended_.empty() || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return std::exchange(results_, {});
}

std::vector<SearchProgress> ParallelSearch::progress() {
  const std::lock_guard lock(mutex_);
  std::vector<SearchProgress> all;
  for (auto& [id, progress] : std::exchange(progress_, {})) all.push_back(std::move(progress));
  return all;
}

// Each request goes to the first worker that has room.
void ParallelSearch::deal_out() {
  for (const auto& worker : workers_) {
    for (; !waiting_.empty() && worker->unfinished < settings_.sentences; ++worker->unfinished) {
      worker->dealt.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
}

// Worker i seldom works while fewer than i + 1 workers do, and then never uses more than its share of the threads.
ParallelSearch::Worker& ParallelSearch::add_worker() {
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
  const int share = context().threads() / static_cast<int>(workers_.size());
  worker.search.emplace(workers_.size() == 1 ? models_ : worker.borrow(models_, std::max(share, 1)),
                        settings_);
  return worker;
}

// False if the system refuses a thread.
bool ParallelSearch::start(Worker& worker) {
  ++at_work_;
  worker.thread = try_to_start_thread([this, &worker] { work(worker); });
  if (!worker.thread.joinable()) --at_work_;
  return worker.thread.joinable();
}

void ParallelSearch::work(Worker& worker) {
  try {
    while (take_tasks(worker)) {
      run_task(worker);
      std::vector<SearchResult> results = worker.search->step();
      const std::lock_guard lock(mutex_);
      publish(worker, std::move(results));
      if (!results_.empty()) done_.notify_one();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    worker.failed = true;
    done_.notify_one();
  }
}

// The models and what they compute on belong to the first search's thread once it has one.
void ParallelSearch::run(const std::function<void()>& task) {
  Worker& first = *workers_[0];
  if (!first.thread.joinable()) return task();
  std::unique_lock lock(mutex_);
  first.task = &task;
  dealt_.notify_all();
  done_.wait(lock, [&] { return first.task == nullptr || first.failed; });
  if (std::exchange(first.task, nullptr) != nullptr) std::rethrow_exception(failure_);
}

void ParallelSearch::run_task(Worker& worker) {
  const std::function<void()>* task = nullptr;
  {
    const std::lock_guard lock(mutex_);
    task = worker.task;
  }
  if (task == nullptr) return;
  (*task)();
  const std::lock_guard lock(mutex_);
  worker.task = nullptr;
  done_.notify_one();
}

uint64_t ParallelSearch::steps() const {
  const std::lock_guard lock(mutex_);
  return steps_;
}

// Hands over the results and the progress of a worker's step.
void ParallelSearch::publish(Worker& worker, std::vector<SearchResult> results) {
  ++steps_;
  worker.unfinished -= std::ssize(results);
  for (SearchProgress& progress : worker.search->progress()) progress_[progress.id] = std::move(progress);
  for (SearchResult& result : results) {
    progress_.erase(result.id);
    results_.push_back(std::move(result));
  }
}

// Waits until there is work. False: stop.
bool ParallelSearch::take_tasks(Worker& worker) {
  std::unique_lock lock(mutex_);
  if (worker.dealt.empty() && !worker.search->busy() && worker.task == nullptr) {
    --at_work_;
    dealt_.wait(lock, [&] { return stop_ || !worker.dealt.empty() || worker.task != nullptr; });
    ++at_work_;
  }
  worker.take_dealt();
  worker.context(models_).limit_threads(std::max(context().threads() / at_work_, 1));
  return !stop_;
}

}  // namespace dragoman::internal
