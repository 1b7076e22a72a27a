// Processes: the programs that train one model together, and what they tell each other.
//
// Each holds the whole model and does its share of an update's batches; gradients are summed over all of them. The
// first one alone prepares the corpus, validates, logs and saves. Everything below is for all together: each process
// makes the same calls in the same order. Where another one has died, hangs or has ended by an error of its own, the
// calls throw Error instead of waiting; without a message in all but one of those that are left.
//
// Whoever starts several (mpirun) says so in the environment; behind this interface is MPI now, and what sums on the
// devices of a GPU may be so later.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace dragoman {

// What gradients travel as. Sums are taken in 32 bits in any case.
enum class Wire { fp32, bf16 };

class Processes {
 public:
  virtual ~Processes() = default;

  virtual int count() const = 0;
  virtual int number() const = 0;  // of this one, from 0
  bool first() const { return number() == 0; }

  virtual int on_this_machine() const = 0;   // how many of them
  virtual int share_of_threads() const = 0;  // of the machine's processors

  // Element by element, the sum over all processes in the order of their numbers: the same bits for all, at each run.
  // It goes on in the background, and the values are nobody else's until finish_sums() returns. Gradients are to be
  // cut into some megabytes each.
  virtual void start_sum(std::span<float> values, Wire wire) = 0;
  virtual void finish_sums() = 0;
  // For whoever gives up while sums are under way, and is about to end: the values are no longer touched.
  virtual void abandon_sums() = 0;

  // What each process has to say, in the order of their numbers. Waits for all of them.
  template <class T>
  std::vector<T> gather(const T& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<size_t>(count()));
    gather_bytes(&own, sizeof(T), all.data());
    return all;
  }

  // What the first one says; others' own text is not looked at.
  virtual std::string from_first(const std::string& text) = 0;

  // The seconds that this process has waited for others in the calls above.
  virtual double seconds_waited() const = 0;

  // Another process that gives no sign of life for so long is lost. Not to be called while others wait.
  virtual void set_heartbeat_timeout(double seconds) = 0;

  // The orderly end, for all together. Whoever is destroyed without it takes the others down.
  virtual void leave() = 0;

 protected:
  virtual void gather_bytes(const void* own, size_t bytes, void* all) = 0;
};

// A process that trains alone.
Processes& single_process();

// All that were started together with this one; where nobody started several, one that is alone.
std::unique_ptr<Processes> join_processes();

// For work whose results on the disk the others are to find: the first one does it before them.
template <class Work>
void after_the_first(Processes& processes, Work work) {
  if (processes.first()) work();
  processes.gather('\0');
  if (!processes.first()) work();
}

}  // namespace dragoman
