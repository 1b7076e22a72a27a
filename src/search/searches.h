// Searches: the threads that each run a search, with a batch of its own, and share the models' weights.
//
// With enough sentences, two searches on one thread each are faster than one whose every product is split among two
// threads: none waits for the other. Another search starts when the scheduler has more sentences than those there are
// have rows, and the threads are shared among those that have work: a single sentence gets all of them.
#pragma once

#include <memory>
#include <vector>

#include "search/queue/scheduler.h"

namespace dragoman::internal {

// How many searches run side by side: `workers`; if that is 0, one per thread, up to 8, or one for batches of one.
int worker_count(int64_t workers, int64_t batch, int threads);

class Searches {
 public:
  // `most`: of them; settings.sentences are for each, and what the scheduler counts on.
  Searches(Scheduler& scheduler, const Models& models, const SearchSettings& settings, int most,
           const Fusion& fusion = {});
  ~Searches();
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  // Starts the first thread, on which tasks run. Threads share `owner`, which has this object, and so may outlive the
  // last other owner.
  void start(std::shared_ptr<const void> owner = {});
  // Without threads: one step of the first search. False where there was nothing to do.
  bool step();
  // Cancels what is not done, and waits for it: but for the thread that calls this, in a job's end() or report(), which
  // goes on with what is not done when those return.
  void stop();

 private:
  struct Worker;

  Worker& add_worker();
  void search(Worker& worker);
  void work(Worker& worker, const std::shared_ptr<const void>& owner);
  void start_another(const std::shared_ptr<const void>& owner);
  static void leave(Worker& worker);

  Scheduler& scheduler_;
  const Models models_;
  const SearchSettings settings_;
  const Fusion fusion_;
  size_t most_;  // fewer once the system refuses a thread
  std::vector<std::unique_ptr<Worker>>
      workers_;  // the first one's thread adds the others, and alone looks here
  Worker* const first_;
};

}  // namespace dragoman::internal
