// ParallelSearch: several searches, each with a batch and threads of its own, that share the models' weights.
//
// With enough sentences, two searches on one thread each are faster than one whose every product is split among two
// threads: none waits for the other. A search starts only when those before it are full, and the threads are shared
// among those that have work: a single sentence gets all of them.
//
// To be used like a Search, whose bits results have.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "search/search.h"

namespace dragoman::internal {

// How many searches run side by side: `workers`; if that is 0, one per thread, up to 8, or one for batches of one.
int worker_count(int64_t workers, int64_t batch, int threads);

class ParallelSearch {
 public:
  // `searches`: the most of them; settings.sentences are for each.
  ParallelSearch(const Models& models, const SearchSettings& settings, int searches);
  ~ParallelSearch();
  ParallelSearch(const ParallelSearch&) = delete;
  ParallelSearch& operator=(const ParallelSearch&) = delete;

  bool busy() const { return unfinished_ > 0; }
  int64_t unfinished() const { return unfinished_; }
  uint64_t steps() const;  // of all searches together
  // How many more requests would not have to wait.
  int64_t room() const;
  void add(uint64_t id, SearchRequest request);
  // One that is being decoded ends with the next step of its search, unless it has ended by itself.
  void cancel(uint64_t id);

  // The results of requests that ended. Where there are several searches they go on meanwhile, and this waits a moment
  // for a result.
  std::vector<SearchResult> step();
  // Of requests that asked for it and went on since the last call.
  std::vector<SearchProgress> progress();
  // Runs a task that uses the models, between two steps of the first search, and waits for it. It must not throw.
  void run(const std::function<void()>& task);

 private:
  struct Task {
    uint64_t id;
    SearchRequest request;
  };
  struct Worker;

  Context& context() const { return models_[0]->device.context; }
  Worker& add_worker();
  bool start(Worker& worker);
  void deal_out();
  void end_waiting(SearchStatus status, const std::function<bool(const Task&)>& affected);
  void expire();
  std::vector<SearchResult> own_results();
  std::vector<SearchResult> others_results();
  void work(Worker& worker);
  bool take_tasks(Worker& worker);
  void run_task(Worker& worker);
  void publish(Worker& worker, std::vector<SearchResult> results);

  const Models models_;
  const SearchSettings settings_;
  size_t max_workers_;  // fewer once the system refuses a thread
  std::deque<Task> waiting_;
  std::vector<SearchResult> ended_;  // that ended while they waited
  int64_t unfinished_ = 0;           // waiting, dealt out, or with their results not yet given out
  bool deadlines_ = false;           // whether any request had one

  // Shared with the workers once they have threads of their own.
  mutable std::mutex mutex_;
  std::condition_variable dealt_, done_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int at_work_ = 0;
  bool stop_ = false;
  uint64_t steps_ = 0;
  std::vector<SearchResult> results_;
  std::map<uint64_t, SearchProgress> progress_;
  std::exception_ptr failure_;
};

}  // namespace dragoman::internal
