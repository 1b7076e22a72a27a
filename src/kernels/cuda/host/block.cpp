#include "kernels/cuda/host/block.h"

#include <numeric>
#include <string_view>

#include "base/error.h"

namespace dragoman::internal::on_host {
namespace {

bool same(const Meeting& a, const Meeting& b) {
  return a.word == b.word && a.place.line == b.place.line &&
         (a.place.file == b.place.file || std::string_view(a.place.file) == b.place.file);
}

std::string text(Place place) { return fmt::format("{}:{}", place.file, place.line); }
std::string text(const Meeting& meeting) {
  return fmt::format("{} at {}", meeting.word, text(meeting.place));
}

}  // namespace

void ThreadBlock::fail(const std::string& what) const {
  throw Error("the kernel {}, block {}: {}", kernel_, index_, what);
}

void ThreadBlock::fail_apart(int one, const Meeting& there, int other, const Meeting& here) const {
  fail(fmt::format("thread {} waits in {}, while thread {} is in {}", one, text(there), other, text(here)));
}

void ThreadBlock::check_sizes(const Launch& launch) const {
  constexpr int64_t most_blocks = 0x7fffffff;
  if (launch.threads < warp_lanes || launch.threads > most_threads || launch.threads % warp_lanes != 0)
    throw Error("the kernel {}: {} threads a block are not a multiple of {} up to {}", kernel_,
                launch.threads, warp_lanes, most_threads);
  if (launch.shared_bytes > SharedMemory::most_bytes)
    throw Error("the kernel {}: {} bytes of shared memory are more than {}", kernel_, launch.shared_bytes,
                SharedMemory::most_bytes);
  if (launch.blocks > most_blocks)
    throw Error("the kernel {}: {} blocks are more than {}", kernel_, launch.blocks, most_blocks);
}

void ThreadBlock::prepare(const Launch& launch, uint64_t seed) {
  kernel_ = launch.kernel;
  check_sizes(launch);
  threads_ = launch.threads;
  const auto warps = static_cast<size_t>(threads_ / warp_lanes);
  if (warps_.size() < warps) warps_.resize(warps);
  shared_.resize(launch.shared_bytes);
  order.seed(seed);
}

void ThreadBlock::start(int64_t index) {
  index_ = index;
  arrived_ = finished_ = 0;
  for (int thread = 0; thread < threads_; thread += warp_lanes) {
    Warp& warp = warp_of(thread);
    warp.arrived = warp.at_barrier = warp.finished = 0;
  }
  tick();
  start_time_ = block_time_;
  order.clear();
  mixes_warps_ = order.below(4) == 0;
  add_all_threads(-1);
}

void ThreadBlock::tick() {
  block_time_ = ++time_;
  for (int thread = 0; thread < threads_; thread += warp_lanes) warp_of(thread).time = block_time_;
}

void ThreadBlock::add_threads(int first, int count, int except, bool before) {
  size_t added = 0;
  for (int thread = first; thread < first + count; ++thread)
    if (thread != except) chosen_[added++] = static_cast<uint16_t>(thread);
  order.add_shuffled({chosen_.data(), added}, before);
}

void ThreadBlock::add_all_threads(int except) {
  if (mixes_warps_) return add_threads(0, threads_, except, false);
  std::array<uint16_t, most_threads / warp_lanes> warps;
  const auto count = static_cast<size_t>(threads_ / warp_lanes);
  std::iota(warps.begin(), warps.begin() + count, uint16_t{0});
  order.shuffle({warps.data(), count});
  for (size_t i = 0; i < count; ++i) add_threads(warps[i] * warp_lanes, warp_lanes, except, false);
}

bool ThreadBlock::arrive_at_barrier(int thread, const Meeting& meeting) {
  Warp& warp = warp_of(thread);
  if (warp.arrived > 0) fail_apart(warp.first, warp.meeting, thread, meeting);
  if (finished_ > 0)
    fail(fmt::format("thread {} waits in {}, while thread {} has finished", thread, text(meeting),
                     last_finished_));
  if (arrived_ == 0) {
    first_ = thread, barrier_ = meeting;
  } else if (!same(meeting, barrier_)) {
    fail_apart(first_, barrier_, thread, meeting);
  }
  ++warp.at_barrier;
  warp.last_at_barrier = thread;
  if (++arrived_ < threads_) return false;
  arrived_ = 0;
  for (int each = 0; each < threads_; each += warp_lanes) warp_of(each).at_barrier = 0;
  tick();
  add_all_threads(thread);
  return true;
}

bool ThreadBlock::arrive_in_warp(int thread, const Meeting& meeting) {
  Warp& warp = warp_of(thread);
  if (warp.at_barrier > 0) fail_apart(warp.last_at_barrier, barrier_, thread, meeting);
  if (warp.finished > 0)
    fail(fmt::format("thread {} is in {}, while thread {} of its warp has finished", thread, text(meeting),
                     warp.last_finished));
  if (warp.arrived == 0) {
    warp.first = thread, warp.meeting = meeting;
  } else if (!same(meeting, warp.meeting)) {
    fail_apart(warp.first, warp.meeting, thread, meeting);
  }
  if (++warp.arrived < warp_lanes) return false;
  warp.arrived = 0;
  warp.turn ^= 1;
  add_threads(thread / warp_lanes * warp_lanes, warp_lanes, thread, !mixes_warps_ || order.below(2) == 0);
  return true;
}

void ThreadBlock::finish(int thread) {
  Warp& warp = warp_of(thread);
  if (warp.arrived > 0)
    fail(fmt::format("thread {} waits in {}, while thread {} of its warp has finished", warp.first,
                     text(warp.meeting), thread));
  if (arrived_ > 0)
    fail(fmt::format("thread {} waits in {}, while thread {} has finished", first_, text(barrier_), thread));
  ++warp.finished;
  ++finished_;
  last_finished_ = thread;
  warp.last_finished = thread;
}

void ThreadBlock::check_bounds(int thread, int64_t offset, int64_t bytes, Place place) const {
  if (shared_.contains(offset, bytes)) return;
  fail(fmt::format("thread {} touches bytes {} to {} of {} of shared memory at {}", thread, offset,
                   offset + bytes - 1, shared_.size(), text(place)));
}

const void* ThreadBlock::read(int thread, int64_t offset, int64_t bytes, Place place) {
  check_bounds(thread, offset, bytes, place);
  const Accessor by = accessor(thread);
  for (int64_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    const int other = shared_.read(word, by);
    if (other == SharedMemory::unwritten)
      fail(fmt::format("thread {} reads shared memory that nothing was written to, byte {}, at {}", thread,
                       4 * word, text(place)));
    if (other != SharedMemory::nobody)
      fail(fmt::format(
          "thread {} reads byte {} of shared memory at {}, written by thread {} before the same barrier",
          thread, 4 * word, text(place), other));
  }
  return shared_.at(offset);
}

void* ThreadBlock::write(int thread, int64_t offset, int64_t bytes, Place place) {
  check_bounds(thread, offset, bytes, place);
  const Accessor by = accessor(thread);
  for (int64_t word = offset / 4; word < (offset + bytes) / 4; ++word) {
    const int other = shared_.write(word, by);
    if (other != SharedMemory::nobody)
      fail(fmt::format(
          "thread {} writes byte {} of shared memory at {}, used by thread {} before the same barrier",
          thread, 4 * word, text(place), other));
  }
  return shared_.at(offset);
}

}  // namespace dragoman::internal::on_host
