// Adapter: adapts the served models, one after another and from time to time, to what their users have confirmed.
//
// The work is done by `dragoman adapt` in a process of its own. Its model appears in the folder that models/adapted.h
// names, where the watch of the models' folders finds it; what went wrong is logged, and the old model stays in use.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serve/adapting/jobs.h"
#include "serve/adapting/outcome.h"
#include "serve/operation/metrics.h"
#include "serve/settings.h"

namespace dragoman::internal {

class Adapter {
 public:
  // `settings` outlives it. `program`: dragoman, by default this program itself.
  explicit Adapter(const ServeSettings& settings, std::string program = "/proc/self/exe");
  ~Adapter();  // waits until what runs has ended

  // Once: from then on every --adapt-every hours, first at once.
  void start(std::vector<AdaptJob> jobs);
  void stop() { stop_.request_stop(); }  // does not wait

  void print(MetricsPage& page) const;

 private:
  struct Job {
    AdaptJob what;
    FolderState settled = {};  // its inputs when it had its last outcome that stays the same
  };

  void work();
  void adapt(Job& job);
  AdaptOutcome run(const AdaptJob& job);
  void note(const AdaptJob& job, const AdaptOutcome& outcome, std::chrono::duration<double> time);

  const ServeSettings& settings_;
  const std::string program_;
  std::vector<Job> jobs_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  bool running_ = false;
  std::map<std::pair<std::string, std::string>, uint64_t> counts_;  // by model and outcome
  std::thread thread_;
};

}  // namespace dragoman::internal
