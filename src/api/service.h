// Service: the thread behind a Translator. It owns the engine's translator, feeds it the submitted requests, and
// delivers results as they are ready.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/service_job.h"
#include "dragoman/translator.h"
#include "search/translator.h"

namespace dragoman::internal {

class Service {
 public:
  using OnDone = std::function<void(std::future<dragoman::Translation>)>;

  // Its thread shares it, and so may outlive the last other owner: who starts it must stop it.
  static std::shared_ptr<Service> start(std::unique_ptr<SavedModel> model, const BatchLimits& limits);
  // Cancels what is not done, and waits for it, but in a callback, which the thread itself runs. In a process that
  // fork() made there is no thread to stop.
  void stop();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  SavedModel& model() { return *model_; }

  // Without `on_done` the result comes only with the future.
  std::future<dragoman::Translation> submit(Request request, OnDone on_done = {});
  size_t pending() const;
  TranslatorStatistics statistics() const;
  static uint64_t new_client();

  // Runs the task, which may use the model, between two steps, and waits for it: in turn with what other clients ask
  // for. Throws what it throws, and the public Error of one that was cancelled or expired before it began.
  void run(ServiceTask task);

 private:
  Service(std::unique_ptr<SavedModel> model, const BatchLimits& limits);

  struct Inbox {
    ServiceJobs jobs;
    std::vector<uint64_t> cancelled;
    std::vector<ServiceTask> tasks;

    bool empty() const { return jobs.empty() && cancelled.empty() && tasks.empty(); }
  };

  SearchOptions options_of(const Request& request);
  void check_process() const;
  void cancel_later(uint64_t id);
  void work();
  bool receive();
  void cancel(uint64_t id);
  void expire_waiting();
  void start_waiting();
  void start(ServiceJobs::node_type job);
  void end_unwanted_tasks();
  void run_next_task();
  void step();
  void report_progress();
  void deliver(TranslationResult result);
  void end(std::unique_ptr<ServiceJob> job, std::exception_ptr error);
  void end_active(ServiceJobs::iterator job, std::exception_ptr error);
  void end_all_active(const std::exception_ptr& error);
  void publish_statistics();

  const std::unique_ptr<SavedModel> model_;
  const BatchLimits limits_;
  const pid_t process_;

  std::mutex options_mutex_;
  std::deque<std::pair<dragoman::Options, SearchOptions>> read_options_;  // recent ones

  mutable std::mutex mutex_;  // for what follows up to the thread's own
  std::condition_variable wake_;
  Inbox inbox_;
  uint64_t next_id_ = 0;
  size_t pending_ = 0;
  TranslatorStatistics statistics_;
  std::optional<ServiceJob::Clock::time_point> oldest_;  // of those that wait
  bool stop_ = false;

  // The thread's own.
  std::optional<Translator> engine_;
  Turns turns_;
  WaitingJobs waiting_;
  ServiceJobs active_;
  std::map<std::pair<double, uint64_t>, ServiceTask>
      tasks_;  // by their turn, and in the order in which they came
  uint64_t tasks_begun_ = 0;
  ServiceJob::Clock::duration owed_{};  // time that tasks took and steps have not had since
  std::thread thread_;
};

}  // namespace dragoman::internal
