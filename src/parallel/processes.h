// Processes: the programs that train one model together, and how they communicate.
//
// Each holds the whole model and computes its share of an update's batches; gradients are summed over all of them. Only
// the first one prepares the corpus, validates, logs and saves. The calls below are collective: each process makes
// the same ones in the same order. When another process has died, hangs or has failed, they throw Error instead of
// waiting; its message is empty in all but one of the remaining processes, so that the user reads it once.
//
// MPI is behind this interface (join.h), and NCCL for sums between GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "kernels/kernels.h"

namespace dragoman::internal {

// The format in which gradients are sent. Sums are in 32 bits in any case.
enum class GradientFormat { fp32, bf16 };

class Processes {
 public:
  virtual ~Processes() = default;

  virtual int count() const = 0;
  virtual int number() const = 0;  // this process's rank, from 0
  bool first() const { return number() == 0; }

  virtual int local_count() const = 0;       // processes on this machine
  virtual int share_of_threads() const = 0;  // processors of this machine for this process

  // Collective, before the first sum: this process computes gradients on this device. The log says how they will be
  // summed. Throws Error where the processes' devices do not go together.
  virtual void use_device(const Kernels& kernels) = 0;
  // Whether start_sum() takes values in that device's memory, rather than in the host's.
  virtual bool sums_device_memory() const = 0;

  // Element by element, the sum over all processes in the order of their numbers: the same bits everywhere, at each
  // run. It proceeds in the background, and the values must not be touched until finish_sums() returns. Gradients
  // should be cut into slices of some megabytes.
  virtual void start_sum(std::span<float> values, GradientFormat wire) = 0;
  virtual void finish_sums() = 0;
  // For error paths, while sums are in progress: afterwards this process no longer touches the values. What others send
  // may still arrive in them.
  virtual void cancel_sums() = 0;

  // The values of all processes, in the order of their numbers. Waits for all of them.
  template <class T>
  std::vector<T> gather(const T& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<size_t>(count()));
    gather_bytes(&own, sizeof(T), all.data());
    return all;
  }

  // The first process's text; the text of the others is ignored.
  virtual std::string broadcast(const std::string& text) = 0;

  // The seconds that this process has waited for others in the calls above.
  virtual double seconds_waited() const = 0;

  // A process without a heartbeat for this long counts as lost. Not to be called while others wait.
  virtual void set_heartbeat_timeout(double seconds) = 0;

  // Collective. A process destroyed without it stops the others.
  virtual void shutdown() = 0;

 protected:
  virtual void gather_bytes(const void* own, size_t bytes, void* all) = 0;
};

// A process that trains alone.
class SingleProcess : public Processes {
 public:
  int count() const override { return 1; }
  int number() const override { return 0; }
  int local_count() const override { return 1; }
  int share_of_threads() const override;
  void use_device(const Kernels&) override {}
  bool sums_device_memory() const override { return false; }
  void start_sum(std::span<float>, GradientFormat) override {}
  void finish_sums() override {}
  void cancel_sums() override {}
  std::string broadcast(const std::string& text) override { return text; }
  double seconds_waited() const override { return 0; }
  void set_heartbeat_timeout(double) override {}
  void shutdown() override {}

 protected:
  void gather_bytes(const void* own, size_t bytes, void* all) override;
};

Processes& single_process();

// The others wait for the first process's work.
template <class Work>
void run_on_first(Processes& processes, Work work) {
  if (processes.first()) work();
  processes.gather('\0');
}

// For work whose files the other processes read: the first process does it, then the others.
template <class Work>
void run_on_first_then_others(Processes& processes, Work work) {
  run_on_first(processes, work);
  if (!processes.first()) work();
}

}  // namespace dragoman::internal
