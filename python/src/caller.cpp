#include "caller.h"

#include "binding.h"

namespace dragoman::python {
namespace {

// Never destroyed: threads of the library may outlive the interpreter.
Caller* the_caller = new Caller;

}  // namespace

Caller& Caller::get() { return *the_caller; }

void Caller::call(PyObject* function) {
  const std::lock_guard lock(mutex_);
  if (!open_) return;  // without the global lock the reference cannot be given back
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  waiting_.push_back(function);
  wake_.notify_one();
}

bool Caller::is_open() {
  const std::lock_guard lock(mutex_);
  return open_;
}

void Caller::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return !open_ || !waiting_.empty(); });
    if (!open_) return;
    PyObject* const function = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    {
      const nb::gil_scoped_acquire gil;
      PyObject* const returned = PyObject_CallNoArgs(function);
      if (returned == nullptr) PyErr_WriteUnraisable(function);
      Py_XDECREF(returned);
      Py_DECREF(function);
    }
    lock.lock();
  }
}

// Before the interpreter ends, after which no thread may ask for the global lock.
void Caller::close() {
  {
    const GilRelease release;
    const std::unique_lock lock(mutex_);
    open_ = false;
    wake_.notify_one();
  }
  if (thread_.joinable()) {
    const GilRelease release;
    thread_.join();
  }
  for (PyObject* const function : waiting_) Py_DECREF(function);
  waiting_.clear();
}

void bind_caller(nb::module_& module) {
  module.def("_close", [] { Caller::get().close(); });
  module.def("_renew", [] {
    the_caller = new Caller;
    renew_log();
  });
  nb::module_::import_("atexit").attr("register")(module.attr("_close"));
  // A child does not have the thread, and perhaps another one held a mutex.
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") = module.attr("_renew"));
}

}  // namespace dragoman::python
