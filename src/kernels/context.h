// What a device's kernels run on: the CPU's have threads and memory that lasts for one call.
//
// Kernels know the concrete type that their table runs on; all other code uses only this interface. A context belongs
// to one caller at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dragoman::internal {

class Context {
 public:
  Context() = default;
  virtual ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  virtual int threads() const = 0;  // of the host
  // How many of them the calls that follow share, at least 1. It changes no result.
  virtual void limit_threads(int threads) = 0;
  // One of the same kind, to be used beside this one. The caller owns it.
  virtual Context* clone(int threads) const = 0;
};

class CpuContext final : public Context {
 public:
  explicit CpuContext(int threads);
  ~CpuContext() override;

  int threads() const override;
  void limit_threads(int threads) override;
  Context* clone(int threads) const override;

  // Calls body(argument, task, worker) once for each task of [0, count), in any order; 0 ≤ worker < threads().
  // Must not be nested. Which worker takes a task may not change its result.
  void parallel(int64_t count, void (*body)(void* argument, int64_t task, int worker), void* argument);

  // Memory aligned to 64 bytes, valid until the next kernel's request for the same place. It grows to the largest
  // request seen and stays.
  void* shared(size_t bytes);             // one for the call; not to be asked for inside parallel()
  void* local(int worker, size_t bytes);  // one for each worker

 private:
  struct State;
  State* state_;
};

Context* new_cpu_context(int threads);

}  // namespace dragoman::internal
