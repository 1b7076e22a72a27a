// The global lock is free while the library works.
#pragma once

#include <nanobind/nanobind.h>

namespace dragoman::python {

// Like nanobind's guard, but safe in a daemon thread. When the interpreter ends, Python ends such a thread as it asks for
// the lock: by unwinding its stack, which C++ answers with std::terminate. Here the thread sleeps instead.
//
// A thread that comes back hands the library's log lines over.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* const state_;
};

// With the global lock: lines that wait, to Python's logging (log.cpp). Throws nothing.
void deliver_log();

// For the thread that Python ends: never returns, and holds no lock.
[[noreturn]] void sleep_for_ever();

}  // namespace dragoman::python
