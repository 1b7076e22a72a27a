// The global lock is free while the library works.
#pragma once

#include <nanobind/nanobind.h>

namespace dragoman::python {

// Like nanobind's guard, but safe in a daemon thread. Python ends such a thread, once the interpreter ends, when it asks
// for the lock: by unwinding its stack, which C++ answers with std::terminate. Here the thread sleeps instead.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// For the thread that Python ends: never returns, and holds no lock.
[[noreturn]] void sleep_for_ever();

}  // namespace dragoman::python
