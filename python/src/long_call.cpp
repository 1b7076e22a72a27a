#include "long_call.h"

#include <cxxabi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dragoman::python {
namespace {

constexpr std::chrono::milliseconds between_signals(100);

}  // namespace

// Shared with the thread, which may be left to itself.
struct LongCall::State {
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable news;
  const std::function<void()>* callback = nullptr;  // that the work waits for
  bool done = false;
  std::exception_ptr error;

  void work(const std::function<void()>& function) {
    try {
      function();
    } catch (...) {
      error = std::current_exception();
      stop.request_stop();
    }
    const std::lock_guard lock(mutex);
    done = true;
    news.notify_all();
  }
};

std::shared_ptr<LongCall::State> LongCall::make_state() { return std::make_shared<State>(); }

std::stop_token LongCall::stop_token() const { return state_->stop.get_token(); }

void LongCall::run(std::function<void()> work, Interrupted then) {
  std::thread([state = state_, work = std::move(work)] { state->work(work); }).detach();
  while (!wait()) {
    attend();
    if (failure_ && then == Interrupted::is_left) break;
  }
  if (failure_) throw std::move(*failure_);
  if (state_->error) std::rethrow_exception(state_->error);
}

void LongCall::call_back(const std::function<void()>& callback) {
  std::unique_lock lock(state_->mutex);
  state_->callback = &callback;
  state_->news.notify_all();
  state_->news.wait(lock, [this] { return state_->callback == nullptr; });
}

// Whether it is done; else there is a callback to run, or time to look at signals.
bool LongCall::wait() {
  const GilRelease release;
  std::unique_lock lock(state_->mutex);
  state_->news.wait_for(lock, between_signals,
                        [this] { return state_->done || state_->callback != nullptr; });
  callback_ = state_->callback;
  return state_->done;
}

void LongCall::attend() {
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback_ != nullptr && !failure_) (*callback_)();
  } catch (nb::python_error& error) {
    if (!failure_) failure_.emplace(std::move(error));
    state_->stop.request_stop();
  } catch (const abi::__forced_unwind&) {
    sleep_for_ever();
  }
  if (callback_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  state_->callback = nullptr;
  state_->news.notify_all();
}

}  // namespace dragoman::python
