// What a kernel runs on: threads, and memory that lasts for one call.
//
// A context belongs to one caller at a time. The memory grows to the largest request seen and stays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragoman {

class Context {
 public:
  explicit Context(int threads);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int threads() const;
  // How many of them the calls that follow share, at least 1. It changes no result.
  void use(int threads);

  // Calls body(argument, task, worker) once for each task of [0, count), in any order; 0 ≤ worker < threads().
  // Must not be nested. Which worker takes a task may not change its result.
  void parallel(int64_t count, void (*body)(void* argument, int64_t task, int worker), void* argument);

  // Memory aligned to 64 bytes, valid until the next kernel's request for the same place.
  void* shared(size_t bytes);             // one for the call; not to be asked for inside parallel()
  void* local(int worker, size_t bytes);  // one for each worker

 private:
  struct State;
  State* state_;
};

}  // namespace dragoman
