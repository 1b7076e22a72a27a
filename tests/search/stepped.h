// Searches and translators that a test feeds without looking for room, and takes step by step.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "search/searches.h"
#include "search/simple_jobs.h"
#include "search/translator.h"

namespace dragoman::internal {

using FoundHypotheses = std::vector<std::vector<Hypothesis>>;  // of each sentence

struct RequestResult {
  uint64_t id;
  SearchStatus status = SearchStatus::finished;
  std::vector<Hypothesis> hypotheses = {};
  std::vector<AttentionRows> attention = {};
};

inline RequestResult result_of(uint64_t id, SearchStatus status, const FoundSentence& found) {
  RequestResult result = {.id = id, .status = status};
  for (const ScoredHypothesis& h : found.hypotheses) {
    result.hypotheses.push_back(h.hypothesis);
    if (!h.attention.empty()) result.attention.push_back(h.attention);
  }
  return result;
}

// A search, and the requests that do not fit into its batch yet.
class QueuedSearch {
 public:
  QueuedSearch(const Models& models, const SearchSettings& settings) : search_(models, settings) {}

  bool busy() const { return search_.busy() || !waiting_.empty() || !ended_.empty(); }
  void add(uint64_t id, SearchRequest request) { waiting_.emplace_back(id, std::move(request)); }
  void cancel(uint64_t id) {
    search_.remove(id);
    const size_t waiting = std::erase_if(waiting_, [id](const auto& other) { return other.first == id; });
    if (waiting + in_batch_.erase(id) > 0) ended_.push_back({id, SearchStatus::cancelled});
  }
  std::vector<RequestResult> step() {
    for (bool more = search_.wants_more(); more && !waiting_.empty(); waiting_.pop_front()) {
      auto& [id, request] = waiting_.front();
      if (!search_.fits(request)) break;
      search_.add(id, std::move(request));
      in_batch_.insert(id);
    }
    std::vector<RequestResult> results = std::exchange(ended_, {});
    for (SearchResult& result : search_.step()) {
      in_batch_.erase(result.id);
      const SearchStatus status = result.failed ? SearchStatus::failed : SearchStatus::finished;
      results.push_back(result_of(result.id, status, result.found));
    }
    return results;
  }
  std::vector<SearchProgress> progress() const { return search_.progress(); }
  int64_t cache_rows_in_use() const { return search_.cache_rows_in_use(); }

 private:
  Search search_;
  std::deque<std::pair<uint64_t, SearchRequest>> waiting_;
  std::set<uint64_t> in_batch_;
  std::vector<RequestResult> ended_;
};

// How a job of the scheduler's ended, and what it reported, by the number that the test gave it.
template <class Result, class Progress>
class SteppedJobs {
 public:
  bool busy() const {
    const std::lock_guard lock(mutex_);
    return unfinished_ > 0;
  }
  void cancel(uint64_t id) {
    if (ids_.contains(id)) scheduler().cancel(ids_.at(id));
  }
  // What has ended. One search has no thread: by this step. Several start with the first step.
  std::vector<Result> step() {
    if (!threads_) {
      searches().step();
    } else if (!std::exchange(started_, true)) {
      searches().start();
    }
    std::unique_lock lock(mutex_);
    if (threads_) ended_.wait_for(lock, std::chrono::milliseconds(5), [&] { return !results_.empty(); });
    unfinished_ -= results_.size();
    return std::exchange(results_, {});
  }
  // How many steps there had been when it ended.
  uint64_t steps_at_end(uint64_t id) const {
    const std::lock_guard lock(mutex_);
    return steps_at_end_.at(id);
  }
  size_t reports() const {
    const std::lock_guard lock(mutex_);
    return reports_;
  }
  // Since the last call, the newest of each that has not ended.
  std::vector<Progress> progress() {
    const std::lock_guard lock(mutex_);
    std::vector<Progress> all;
    for (auto& [id, progress] : std::exchange(progress_, {})) all.push_back(std::move(progress));
    return all;
  }
  // Runs a task, and waits for it.
  SearchStatus run(const std::function<void()>& work, const Claim& claim = {}) {
    std::promise<SearchStatus> ended;
    scheduler().add(
        std::make_unique<TaskJob>(work, [&ended](const JobEnd& end) { ended.set_value(end.status); }), claim);
    return ended.get_future().get();
  }
  SchedulerCounts counts() { return scheduler().counts(); }
  uint64_t steps() { return counts().steps; }
  int64_t sentences_under_way() { return counts().sentences; }
  // After all jobs have ended: a thread's search gives back the rows of what was cancelled with its next step.
  bool frees_all_rows() {
    for (int i = 0; i < 1000 && sentences_under_way() > 0; ++i) step();
    return sentences_under_way() == 0;
  }

 protected:
  explicit SteppedJobs(bool threads) : threads_(threads) {}
  virtual ~SteppedJobs() = default;
  virtual Scheduler& scheduler() = 0;
  virtual Searches& searches() = 0;

  void begin() {
    const std::lock_guard lock(mutex_);
    ++unfinished_;
  }
  void end(Result result) {
    const uint64_t steps_so_far = steps();
    const std::lock_guard lock(mutex_);
    steps_at_end_[result.id] = steps_so_far;
    progress_.erase(result.id);
    results_.push_back(std::move(result));
    ended_.notify_all();
  }
  void report(Progress progress) {
    const std::lock_guard lock(mutex_);
    ++reports_;
    progress_.insert_or_assign(progress.id, std::move(progress));
  }

  std::map<uint64_t, uint64_t> ids_;  // the scheduler's, by the test's

 private:
  const bool threads_;
  bool started_ = false;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  size_t unfinished_ = 0, reports_ = 0;
  std::vector<Result> results_;
  std::map<uint64_t, Progress> progress_;
  std::map<uint64_t, uint64_t> steps_at_end_;
};

// Requests of tokens.
class SteppedSearches : public SteppedJobs<RequestResult, SearchProgress> {
 public:
  SteppedSearches(const Models& models, const SearchSettings& settings, int searches,
                  const std::vector<const Kernels*>& further_devices = {})
      : SteppedJobs(searches > 1 || !further_devices.empty()),
        scheduler_(settings.sentences, 0, 0),
        searches_(scheduler_, models, settings, searches, {}, further_devices) {}
  void add(uint64_t id, SearchRequest request, const Claim& claim = {}) {
    begin();
    RequestJob::OnProgress on_progress;
    if (request.progress)
      on_progress = [this, id](SearchProgress progress) {
        progress.id = id;
        report(std::move(progress));
      };
    ids_[id] = scheduler_.add(std::make_unique<RequestJob>(
                                  std::move(request),
                                  [this, id](const JobEnd& job, const FoundSentence& found) {
                                    end(result_of(id, job.status, found));
                                  },
                                  on_progress),
                              claim);
  }
  Scheduler& scheduler() override { return scheduler_; }

 private:
  Searches& searches() override { return searches_; }

  Scheduler scheduler_;
  Searches searches_;
};

struct TranslationResult {
  uint64_t id;
  SearchStatus status = SearchStatus::finished;
  TranslatedLine line = {};
  std::string error = {};
};

struct TranslationProgress {
  uint64_t id;
  std::string text;
  size_t final_bytes = 0;
};

// Requests of text; `progress`: whether it is reported.
class SteppedTranslator : public SteppedJobs<TranslationResult, TranslationProgress> {
 public:
  explicit SteppedTranslator(SavedModel& model, const BatchLimits& limits = {})
      : SteppedJobs(limits.searches > 1), translator_(model, limits) {}
  void add(uint64_t id, TranslationRequest request, const Claim& claim = {}, bool progress = false) {
    begin();
    if (progress)
      request.on_progress = [this, id](const PartialText& text) {
        report({id, text.text, text.final_bytes});
      };
    request.on_end = [this, id](const JobEnd& job, TranslatedLine line) {
      TranslationResult result = {.id = id, .status = job.status, .line = std::move(line)};
      try {
        if (job.error) std::rethrow_exception(job.error);
      } catch (const std::exception& error) {
        result.error = error.what();
      }
      end(std::move(result));
    };
    ids_[id] = translator_.add(std::move(request), claim);
  }
  Scheduler& scheduler() override { return translator_.scheduler; }

 private:
  Searches& searches() override { return translator_.searches; }

  Translator translator_;
};

}  // namespace dragoman::internal
