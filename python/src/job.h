// Job: one request to a translator, as Python waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "binding.h"

namespace dragoman::python {

class Job {
 public:
  // With `follow`, progress() reports. `on_done` is called without arguments on a thread of its own, or is None.
  Job(Translator& translator, Request request, bool follow, const nb::object& on_done);

  // These wait at most this long, without the global lock. Whether it is done.
  bool wait(double seconds) const;
  // The best output so far and how many of its bytes are final; none where there is no news.
  std::optional<std::pair<std::string, size_t>> progress(double seconds);

  Translation result() const;  // when it is done; or throws what ended it
  void cancel() { stop_.request_stop(); }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable news;
    std::shared_future<Translation> result;  // valid: done
    bool has_progress = false;
    std::string text;
    size_t final_bytes = 0;
  };

  std::stop_source stop_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Translates all at once; KeyboardInterrupt cancels. Called with the global lock, which is free meanwhile.
std::vector<Translation> translate_all(Translator& translator, std::vector<Request> requests);

}  // namespace dragoman::python
