// Service: the engine's translator behind the public one. It reads a request's options, and turns results and errors
// into public ones.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "confidence/calibration.h"
#include "dragoman/translator.h"
#include "search/translator.h"

namespace dragoman::internal {

class Service {
 public:
  using OnDone = std::function<void(std::future<dragoman::Translation>)>;

  // The searches' threads share it, and so may outlive the last other owner: who starts it must stop it.
  static std::shared_ptr<Service> start(std::unique_ptr<SavedModel> model, const BatchLimits& limits);
  // Cancels what is not done, and waits for it, but in a callback, which such a thread itself runs. In a process that
  // fork() made there is no thread to stop.
  void stop();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  SavedModel& model() { return *model_; }
  SavedModel& only_model();  // throws a UsageError where it is one of several

  // Without `on_done` the result comes only with the future.
  std::future<dragoman::Translation> submit(Request request, OnDone on_done = {});
  size_t pending() const;
  TranslatorStatistics statistics() const;
  static uint64_t new_client();

  // Runs work on the model besides translations, between two steps, and waits for it: in turn with what other clients
  // ask for. Throws what it throws, and the public Error of work that was cancelled or expired before it began.
  void run(const Claim& claim, const std::stop_token& stop, const std::function<void()>& work);

 private:
  Service(std::unique_ptr<SavedModel> model, const BatchLimits& limits);

  SearchOptions options_of(const Request& request);
  bool is_forked() const;
  void check_process() const;

  const std::unique_ptr<SavedModel> model_;
  const std::optional<Calibration> calibration_;
  const BatchLimits limits_;
  const pid_t process_;
  std::mutex options_mutex_;
  std::deque<std::pair<dragoman::Options, SearchOptions>> read_options_;  // recent ones
  Translator translator_;
};

// None where the timeout is 0, or longer than the clock can count.
Deadline deadline_after(std::chrono::milliseconds timeout);

// Of a request or a task; the client is a new one where none is given.
Claim claim_of(uint64_t client, size_t bytes, std::chrono::milliseconds timeout);

}  // namespace dragoman::internal
