// Calls Python functions for threads that must not wait for the global lock, such as a translator's own.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <nanobind/nanobind.h>

namespace dragoman::python {

class Caller {
 public:
  static Caller& get();

  // On the caller's thread, soon. Takes over a reference. After close() nothing is called.
  void call(PyObject* function);
  bool is_open();

 private:
  friend void bind_caller(nanobind::module_& module);

  void work();
  void close();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<PyObject*> waiting_;
  bool open_ = true;
  std::thread thread_;  // begins with the first call
};

}  // namespace dragoman::python
