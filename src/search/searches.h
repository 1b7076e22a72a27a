// Searches: the threads that each run a search, with a batch of its own, and share the models' weights.
//
// With enough sentences, two searches on one thread each are faster than one whose every product is split among two
// threads: none waits for the other. Another search starts when the scheduler has more sentences than those there are
// have rows, and the threads are shared among those that have work: a single sentence gets all of them.
//
// On several devices, each has a copy of the models, and searches that share it. A device that is lost takes what it
// has under way with it; the others go on.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "search/queue/scheduler.h"

namespace dragoman::internal {

// How many searches run side by side on a device: `workers`; if that is 0, one per thread, up to 8, or one for batches
// of one.
int worker_count(int64_t workers, int64_t batch, int threads);

class Searches {
 public:
  // `most`: of them on each device, the models' and further ones; settings.sentences are for each, and what the
  // scheduler counts on.
  Searches(Scheduler& scheduler, const Models& models, const SearchSettings& settings, int most,
           const Fusion& fusion = {}, std::span<const Kernels* const> further_devices = {});
  ~Searches();
  Searches(const Searches&) = delete;
  Searches& operator=(const Searches&) = delete;

  // Starts the first thread of each device. Tasks run on the very first. Threads share `owner`, which has this object,
  // and so may outlive the last other owner.
  void start(std::shared_ptr<const void> owner = {});
  // Without threads: one step of the first search. False where there was nothing to do.
  bool step();
  // Cancels what is not done, and waits for it: but for the thread that calls this, in a job's end() or report(), which
  // goes on with what is not done when those return.
  void stop();

 private:
  struct Worker;
  struct OnDevice;

  Worker& add(OnDevice& device, std::unique_ptr<Worker> worker);
  void search(Worker& worker);
  void work(OnDevice& device, Worker& worker, const std::shared_ptr<const void>& owner);
  void start_another(OnDevice& device, const std::shared_ptr<const void>& owner);
  void keep_to_these(OnDevice& device);  // no more than it has
  static void leave(Worker& worker);

  Scheduler& scheduler_;
  const SearchSettings settings_;
  std::vector<OnDevice> devices_;  // the models' own first
  Worker* first_;
};

}  // namespace dragoman::internal
