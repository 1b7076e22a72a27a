// ParallelSearch: searches side by side, each with a batch and threads of its own, that share the models' weights.
//
// Where there are sentences enough, two searches on a thread each do more than one whose every product is cut in two:
// nobody waits for the other. So a search starts only where those before it are full, and the threads are shared among
// those that have something to do: a single sentence has all of them.
//
// To be used like a Search, of whose bits results are; but they come in any order.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "search/search.h"

namespace dragoman {

class ParallelSearch {
 public:
  // `searches`: the most of them; settings.sentences are for each.
  ParallelSearch(const Models& models, const SearchOptions& options, const SearchSettings& settings,
                 int searches);
  ~ParallelSearch();
  ParallelSearch(const ParallelSearch&) = delete;
  ParallelSearch& operator=(const ParallelSearch&) = delete;

  bool busy() const { return unfinished_ > 0; }
  // How many more sentences would not have to wait.
  int64_t room() const;
  void add(uint64_t id, SearchTask task);

  // Those that are done. Where there are several searches they go on meanwhile, and this waits a moment for a result.
  std::vector<SearchResult> step();
  // Whether the models have said nothing but numbers. Where they have not, results mean nothing.
  bool finite() const;

 private:
  struct Task {
    uint64_t id;
    SearchTask task;
  };
  struct Worker;

  Context& context() const { return models_[0]->device.context; }
  Worker& add_worker();
  void start(Worker& worker);
  void deal_out();
  std::vector<SearchResult> own_results();
  std::vector<SearchResult> others_results();
  void work(Worker& worker);
  bool take_tasks(Worker& worker);

  const Models models_;
  const SearchOptions options_;
  const SearchSettings settings_;
  const size_t max_workers_;
  std::deque<Task> waiting_;
  int64_t unfinished_ = 0;  // waiting, dealt out, or with their results not yet given out

  // Once workers have threads of their own, what follows is everybody's.
  mutable std::mutex mutex_;
  std::condition_variable dealt_, done_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int at_work_ = 0;
  bool stop_ = false, finite_ = true;
  std::vector<SearchResult> results_;
  std::exception_ptr failure_;
};

}  // namespace dragoman
