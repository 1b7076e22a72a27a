// A call of the library that may take long: it works on a thread of its own, while the Python thread that made it looks
// at signals and runs callbacks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include "binding.h"

namespace dragoman::python {

class LongCall {
 public:
  // KeyboardInterrupt, and what a callback raises, requests a stop, and is thrown once the work has ended; at once where
  // the work may be left to itself, for which it must own all that it uses.
  enum class Interrupted { ends, is_left };
  void run(std::function<void()> work, Interrupted then = Interrupted::ends);

  std::stop_token stop_token() const;

  // For the work: calls back on the Python thread, and waits for it.
  void call_back(const std::function<void()>& callback);

 private:
  struct State;

  bool wait();
  void attend();

  const std::shared_ptr<State> state_ = make_state();
  const std::function<void()>* callback_ = nullptr;  // to run now
  std::optional<nb::python_error> failure_;

  static std::shared_ptr<State> make_state();
};

// What `work(call)` returns.
template <class Work>
auto in_long_call(const Work& work) {
  LongCall call;
  std::invoke_result_t<Work, LongCall&> result;
  call.run([&] { result = work(call); });
  return result;
}

}  // namespace dragoman::python
