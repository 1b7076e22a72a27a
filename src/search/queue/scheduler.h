// Scheduler: everything that waits to be translated waits here, and nowhere else.
//
// Jobs come from any thread. A job is a text: it is read, which splits it into sentences, when its turn has come.
// Searches, each with a thread and a batch of its own, pull: one whose batch has free rows takes the next sentences and
// hands back what it found. A search on another device is one more that pulls; devices get equal shares.
//
// What it promises, each by a test (tests/search/scheduler_test.cpp, searches_test.cpp):
//   1. Turns. Clients take turns, weighted by what their jobs cost. The sentences of a long job take theirs one by one,
//      so that a short job that comes later need not wait for all of them.
//   2. Reserved rows are for clients that have no sentence under way: whatever one client asks for, the first sentence
//      of another begins with the next step.
//   3. A job that is cancelled, or whose deadline has passed, ends within a step, and its rows are free.
//   4. Equal sentences are searched for once: those that come later join the one under way, or find it in the cache.
//      Each job is still cancelled and expires by itself.
//   5. Each job ends once, after its last report. report() and end() of all jobs are called one at a time, on the
//      thread of some search and without a lock: they may add jobs and cancel any.
//   6. A search begins only when those before it are full: a single sentence gets all threads.
//   7. Tasks, which use the model as a whole, run on the first search's thread between two steps: in turn with the
//      other jobs, and for no more than half of the time while sentences are under way.
//   8. What a step throws ends the jobs that had a sentence in it, and no others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/queue/sentence_cache.h"
#include "search/queue/turns.h"
#include "search/search.h"

namespace dragoman::internal {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

enum class SearchStatus {
  finished,
  cancelled,
  expired,
  failed,
};

struct JobEnd {
  SearchStatus status = SearchStatus::finished;
  std::exception_ptr error = {};  // why it failed; none: the model computed non-finite values for it
};

// Who asks, and until when.
struct Claim {
  uint64_t client = 0;
  double cost = 1;  // of a turn
  Deadline deadline = {};
};

// A text on its way, as the scheduler knows it.
class SearchJob {
 public:
  virtual ~SearchJob() = default;
  // Before all others, without a lock: how many sentences it has. What this throws ends the job.
  virtual size_t read() = 0;
  // A task has no sentences: read() is its work, on the model as a whole.
  virtual bool is_task() const { return false; }
  virtual SearchRequest sentence(size_t) const { return {}; }
  // In between the scheduler is locked: these do little more than keep what they are given.
  virtual void found(size_t, const FoundSentence&) {}
  virtual void moved(size_t, const SearchProgress&) {}
  // What these two throw ends the job. has_news: for report(), which is called next.
  virtual bool has_news() { return false; }
  virtual void report() {}
  virtual void end(JobEnd end) = 0;  // must not throw
};

// A search as the scheduler knows it.
struct Puller {
  Search* search = nullptr;
  bool runs_tasks = false;  // it has the models that tasks use
  int device = 0;           // its number
  int at_work = 1;          // searches that share the threads for the next step

  // The scheduler's own.
  int64_t used = 0;                 // rows
  std::vector<uint64_t> gone = {};  // sentences that nobody waits for any more
  bool idle = false;
  std::condition_variable wake = {};
};

// Since the scheduler was made, but for what waits and is under way now.
struct SchedulerCounts {
  size_t waiting = 0;                             // jobs that have not been read
  double oldest_seconds = 0;                      // how long the first of these has waited
  int64_t sentences = 0;                          // under way
  uint64_t jobs = 0;                              // that ended
  uint64_t steps = 0;                             // of all searches together
  uint64_t source_tokens = 0, target_tokens = 0;  // of sentences that were searched for
  uint64_t merged = 0;                            // sentences that joined an equal one under way
  uint64_t cache_hits = 0, cache_misses = 0;
  size_t cache_bytes = 0;
};

class Scheduler {
 public:
  // Of each search: `reserved` of the rows are for clients that have none.
  Scheduler(int64_t rows, int64_t reserved, size_t cache_bytes)
      : rows_of_search_(rows), reserved_of_search_(reserved), cache_(cache_bytes) {}

  // From any thread.
  uint64_t add(std::unique_ptr<SearchJob> job, const Claim& claim);
  void cancel(uint64_t id);  // nothing where it has ended
  size_t pending() const;    // jobs that have not ended, but for tasks
  SchedulerCounts counts() const;
  void stop();  // pull() returns false from now on

  // From a search's thread. Before a step: ends what is to end, runs a task, and fills the batch. Waits while there is
  // nothing to do, if it may. False: there is nothing to do, or it is to stop.
  bool pull(Puller& puller, bool wait = true);
  // After a step: what it found, or threw.
  void take(Puller& puller, const std::vector<SearchResult>& results);
  void fail(Puller& puller, const std::exception_ptr& error);
  // How many may come on a device; fewer once the system refuses a thread. None where it is lost.
  void set_searches(int device, int most);
  // The order in which they come is that in which they get sentences.
  void add_puller(Puller& puller);
  void remove_puller(Puller& puller);  // which has not pulled
  // The searches of a device get no more sentences, unless no other device is left, and fail with what they have under
  // way. Tasks go on being theirs, if they were, and fail there.
  void retire(int device);
  bool is_crowded() const;  // more sentences wait than the searches have rows
  // What has not ended is cancelled, and so is what the ends of jobs add. Each search's thread calls it before it
  // leaves: what another one is reading, or adds at the end of a job, ends on that thread.
  void end_all();

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  struct Entry {
    std::unique_ptr<SearchJob> job;
    Claim claim;
    WaitingTurn turn;  // of the next sentence
    Clock::time_point added;
    bool is_task, read = false, being_read = false;
    std::optional<JobEnd> end = {};       // while it is read: how it ends after that
    std::vector<uint64_t> searches = {};  // of the sentences that have begun
    size_t sentences = 1, unfinished = 1;
  };
  using Jobs = std::map<uint64_t, Entry>;

  // A sentence under way, and all who wait for it.
  struct SharedSearch {
    std::string key;  // of what is asked for, and whether progress is
    Puller* puller;
    uint64_t client;  // who asked first, and has its row
    size_t source_tokens;
    std::set<std::pair<uint64_t, size_t>> places = {};  // jobs, and which of their sentences it is
  };
  using Searches = std::unordered_map<uint64_t, SharedSearch>;

  int64_t free_rows() const;
  bool may_begin(uint64_t client) const;
  const WaitingTurn* next_turn() const;
  int64_t share_of(int device) const;
  bool is_retired(int device) const { return searches_.at(device) == 0; }
  void count_rows();
  const WaitingTurn* next_for(const Puller& puller) const;
  bool task_is_due(const Puller& puller) const;
  bool has_work(const Puller& puller) const;
  bool has_news() const { return !moved_.empty() || !ended_.empty(); }
  void wake_idle();
  void end_unwanted();
  void fill(Puller& puller, Lock& lock);
  void read(Jobs::iterator job, Lock& lock);
  bool begin(Jobs::iterator job, Puller& puller);
  void receive(const SearchResult& result);
  void take_found(Jobs::iterator job, size_t sentence, const FoundSentence& found);
  SharedSearch remove(Searches::iterator search);
  void end(Jobs::iterator job, JobEnd end);
  void deliver(Lock& lock);
  void run_task(Puller& puller, Lock& lock);
  void wait_for_work(Puller& puller, Lock& lock);

  const int64_t rows_of_search_, reserved_of_search_;
  mutable std::mutex mutex_;         // for all that follows
  std::map<int, int> searches_;      // that may be, by their device's number
  int64_t rows_ = 0, reserved_ = 0;  // of all of them
  std::vector<Puller*> pullers_;
  bool stop_ = false;
  uint64_t next_job_ = 0, next_search_ = 0;
  size_t pending_ = 0;

  Turns turns_;
  Jobs jobs_;                  // in the order in which they came
  std::set<uint64_t> unread_;  // of them
  TurnQueue queue_;            // jobs with sentences to begin
  int64_t to_begin_ = 0;       // of these; a job that has not been read counts as one
  std::set<std::pair<Clock::time_point, uint64_t>> deadlines_;  // of jobs
  std::vector<uint64_t> cancelled_;
  Searches under_way_;                                // by the search's id
  std::unordered_map<std::string, uint64_t> by_key_;  // those that others may join
  std::unordered_map<uint64_t, int64_t> rows_of_;     // under way, of each client that has some
  SentenceCache cache_;

  TurnQueue tasks_;                        // jobs that are
  Clock::time_point no_task_before_ = {};  // while sentences are under way

  std::set<uint64_t> moved_;  // jobs that may have news
  std::deque<std::pair<std::unique_ptr<SearchJob>, JobEnd>> ended_;
  bool delivering_ = false;
  SchedulerCounts counts_;
};

}  // namespace dragoman::internal
