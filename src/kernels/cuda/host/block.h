// A block of threads in step: which of them wait, and where; who may go on when the last one comes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/host/launch.h"
#include "kernels/cuda/host/shared_memory.h"
#include "kernels/cuda/host/thread_order.h"

namespace dragoman::internal::on_host {

constexpr int warp_lanes = 32;

// Where threads meet: a word of the vocabulary, at a place. The text of a word is the same object wherever it is used.
struct Meeting {
  const char* word = nullptr;
  Place place = {};
};

struct Warp {
  int arrived = 0, at_barrier = 0, finished = 0;  // lanes
  int first = 0;                                  // the thread that arrived first
  int last_at_barrier = 0, last_finished = 0;     // threads
  Meeting meeting;
  uint32_t time = 0;
  // What lanes bring to a meeting and find there: in turns, since some lanes are still to take what they find when
  // others are at the next meeting.
  int turn = 0;
  std::array<std::array<uint64_t, warp_lanes>, 2> values;
  std::array<float, 2> results;
};

class ThreadBlock {
 public:
  // Before the first block of a launch, and before each.
  void prepare(const Launch& launch, uint64_t seed);
  void start(int64_t index);

  // A thread is at a meeting: returns whether it was the last, so that all may go on; else it must wait.
  // Throws Error where threads do what they may not.
  bool arrive_at_barrier(int thread, const Meeting&);
  bool arrive_in_warp(int thread, const Meeting&);
  void finish(int thread);
  bool finished() const { return finished_ == threads_; }

  Warp& warp_of(int thread) { return warps_[static_cast<size_t>(thread / warp_lanes)]; }
  // sync_warp orders what the warp's lanes do in shared memory.
  void advance_warp(int thread) { warp_of(thread).time = ++time_; }

  const void* read(int thread, int64_t offset, int64_t bytes, Place);
  void* write(int thread, int64_t offset, int64_t bytes, Place);

  [[noreturn]] void fail(const std::string& what) const;

  ThreadOrder order;

 private:
  void check_sizes(const Launch&) const;
  void check_bounds(int thread, int64_t offset, int64_t bytes, Place) const;
  Accessor accessor(int thread) { return {thread, warp_of(thread).time, block_time_, start_time_}; }
  [[noreturn]] void fail_apart(int one, const Meeting&, int other, const Meeting&) const;
  void add_all_threads(int except);
  void add_threads(int first, int count, int except, bool before);
  void tick();

  const char* kernel_ = "";
  int64_t index_ = 0;
  int threads_ = 0;
  int arrived_ = 0, finished_ = 0;
  int first_ = 0;          // the thread that arrived at the barrier first
  int last_finished_ = 0;  // a thread
  Meeting barrier_;
  // Whether its threads run in any order; else those of a warp run side by side, until all of them wait for others,
  // which the caches like better.
  bool mixes_warps_ = false;
  std::vector<Warp> warps_;
  std::array<uint16_t, most_threads> chosen_;
  uint32_t time_ = 0, block_time_ = 0, start_time_ = 0;
  SharedMemory shared_;
};

}  // namespace dragoman::internal::on_host
