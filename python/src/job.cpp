#include "job.h"

#include "caller.h"

namespace dragoman::python {
namespace {

using Duration = std::chrono::duration<double>;
constexpr Duration between_signals(0.1);

}  // namespace

Job::Job(Translator& translator, Request request, bool follow, const nb::object& on_done) {
  request.stop = stop_.get_token();
  if (follow) {
    request.on_progress = [state = state_](const Progress& progress) {
      const std::lock_guard lock(state->mutex);
      state->text = progress.text;
      state->final_bytes = progress.final_bytes;
      state->has_progress = true;
      state->news.notify_all();
    };
  }
  if (!on_done.is_none() && !Caller::get().is_open())
    throw Error("no translation can be awaited while Python ends: translate before its atexit functions run");
  PyObject* const function = on_done.is_none() ? nullptr : on_done.inc_ref().ptr();
  const auto done = [state = state_, function](std::future<Translation> result) {
    {
      const std::lock_guard lock(state->mutex);
      state->result = result.share();
      state->news.notify_all();
    }
    if (function != nullptr) Caller::get().call(function);
  };
  try {
    const GilRelease release;
    translator.submit(std::move(request), done);
  } catch (...) {
    Py_XDECREF(function);
    throw;
  }
}

bool Job::wait(double seconds) const {
  const GilRelease release;
  std::unique_lock lock(state_->mutex);
  return state_->news.wait_for(lock, Duration(seconds), [this] { return state_->result.valid(); });
}

std::optional<std::pair<std::string, size_t>> Job::progress(double seconds) {
  const GilRelease release;
  std::unique_lock lock(state_->mutex);
  state_->news.wait_for(lock, Duration(seconds),
                        [this] { return state_->has_progress || state_->result.valid(); });
  if (!std::exchange(state_->has_progress, false)) return std::nullopt;
  return std::pair(state_->text, state_->final_bytes);
}

Translation Job::result() const {
  std::shared_future<Translation> result;
  {
    const std::lock_guard lock(state_->mutex);
    result = state_->result;
  }
  if (!result.valid()) throw Error("the result of a job is taken when it is done", ErrorKind::internal);
  return result.get();
}

// Without a thread of its own, unlike other long calls: it would take longer than a short text.
std::vector<Translation> translate_all(Translator& translator, std::vector<Request> requests) {
  struct State {
    std::mutex mutex;
    std::condition_variable done;
    size_t left;
    std::vector<std::future<Translation>> results;
  };
  const auto state = std::make_shared<State>();
  state->left = requests.size();
  state->results.resize(requests.size());
  std::stop_source stop;
  const auto wait = [&] {  // whether all are done
    const GilRelease release;
    std::unique_lock lock(state->mutex);
    return state->done.wait_for(lock, between_signals, [&] { return state->left == 0; });
  };
  try {
    const GilRelease release;
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].stop = stop.get_token();
      translator.submit(std::move(requests[i]), [state, i](std::future<Translation> result) {
        const std::lock_guard lock(state->mutex);
        state->results[i] = std::move(result);
        if (--state->left == 0) state->done.notify_all();
      });
    }
  } catch (...) {
    stop.request_stop();
    throw;
  }
  while (!wait()) {
    if (PyErr_CheckSignals() == 0) continue;
    const nb::python_error interrupted;
    stop.request_stop();
    while (!wait()) continue;
    throw interrupted;
  }
  std::vector<Translation> translations;
  for (auto& result : state->results) translations.push_back(result.get());
  return translations;
}

}  // namespace dragoman::python
