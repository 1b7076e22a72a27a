#include "search/parallel_search.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

namespace dragoman {
namespace {

// As long as a caller may leave new lines unread: short beside a step of a full batch.
constexpr std::chrono::milliseconds moment(5);

}  // namespace

// The first one has the models themselves and, until there is another, the caller's thread.
struct ParallelSearch::Worker {
  std::unique_ptr<Device> own_device;
  std::vector<std::unique_ptr<Transformer>> own_models;
  std::optional<Search> search;
  int64_t unfinished = 0;   // sentences that it was dealt
  std::vector<Task> dealt;  // those that it has not yet seen
  std::thread thread;

  Context& context(const Models& models) const {
    return own_device ? own_device->context : models[0]->device.context;
  }

  void take_dealt() {
    for (Task& task : std::exchange(dealt, {})) search->add(task.id, std::move(task.task));
  }

  // Models on a device of their own, with the weights of these.
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

ParallelSearch::ParallelSearch(const Models& models, const SearchOptions& options,
                               const SearchSettings& settings, int searches)
    : models_(models), options_(options), settings_(settings), max_workers_(static_cast<size_t>(searches)) {
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
  context().use(context().threads());
}

int64_t ParallelSearch::room() const {
  return settings_.sentences * static_cast<int64_t>(max_workers_) - unfinished_;
}

void ParallelSearch::add(uint64_t id, SearchTask task) {
  waiting_.push_back({id, std::move(task)});
  ++unfinished_;
}

std::vector<SearchResult> ParallelSearch::step() {
  std::vector<SearchResult> results = workers_[0]->thread.joinable() ? others_results() : own_results();
  unfinished_ -= std::ssize(results);
  return results;
}

// The first step is always the caller's own: what is kept of the weights from then on is there for all to borrow.
std::vector<SearchResult> ParallelSearch::own_results() {
  Worker& worker = *workers_[0];
  deal_out();
  worker.take_dealt();
  std::vector<SearchResult> results = worker.search->step();
  finite_ = worker.search->finite();
  worker.unfinished -= std::ssize(results);
  if (!waiting_.empty() && max_workers_ > 1) start(worker);
  return results;
}

std::vector<SearchResult> ParallelSearch::others_results() {
  std::unique_lock lock(mutex_);
  deal_out();
  for (; !waiting_.empty() && workers_.size() < max_workers_; deal_out()) start(add_worker());
  dealt_.notify_all();
  done_.wait_for(lock, moment, [&] { return !results_.empty() || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  return std::exchange(results_, {});
}

bool ParallelSearch::finite() const {
  const std::lock_guard lock(mutex_);
  return finite_;
}

// Each to the first one that has room.
void ParallelSearch::deal_out() {
  for (const auto& worker : workers_) {
    for (; !waiting_.empty() && worker->unfinished < settings_.sentences; ++worker->unfinished) {
      worker->dealt.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
  }
}

// Worker i is seldom at work where fewer than i + 1 are, and so has no use for more than its share of the threads then.
ParallelSearch::Worker& ParallelSearch::add_worker() {
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
  const int share = context().threads() / static_cast<int>(workers_.size());
  worker.search.emplace(workers_.size() == 1 ? models_ : worker.borrow(models_, std::max(share, 1)), options_,
                        settings_);
  return worker;
}

void ParallelSearch::start(Worker& worker) {
  ++at_work_;
  worker.thread = std::thread([this, &worker] { work(worker); });
}

void ParallelSearch::work(Worker& worker) {
  try {
    while (take_tasks(worker)) {
      std::vector<SearchResult> results = worker.search->step();
      const std::lock_guard lock(mutex_);
      finite_ = finite_ && worker.search->finite();
      worker.unfinished -= std::ssize(results);
      std::ranges::move(results, std::back_inserter(results_));
      if (!results_.empty()) done_.notify_one();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    done_.notify_one();
  }
}

// Waits until there is something to do. False: the search is over.
bool ParallelSearch::take_tasks(Worker& worker) {
  std::unique_lock lock(mutex_);
  if (worker.dealt.empty() && !worker.search->busy()) {
    --at_work_;
    dealt_.wait(lock, [&] { return stop_ || !worker.dealt.empty(); });
    ++at_work_;
  }
  worker.take_dealt();
  worker.context(models_).use(std::max(context().threads() / at_work_, 1));
  return !stop_;
}

}  // namespace dragoman
