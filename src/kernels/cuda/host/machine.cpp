#include "kernels/cuda/host/machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/host/block.h"
#include "kernels/cuda/host/far_memory.h"
#include "kernels/cuda/host/fiber.h"

namespace dragoman::internal::on_host {

constinit thread_local RunningThread running = {};
constinit PutOnStream put_on_stream = nullptr;

namespace {

std::atomic<uint64_t>& seed() {
  static std::atomic<uint64_t> value = [] {
    const char* order = std::getenv("DRAGOMAN_THREAD_ORDER");
    return order == nullptr ? uint64_t{0} : std::strtoull(order, nullptr, 10);
  }();
  return value;
}

class Machine;
constinit thread_local Machine* machine = nullptr;  // that runs a kernel

// A fiber runs one thread after another: it goes on with the next one where a thread has finished, so that a kernel
// without barriers runs on one fiber. One whose thread waits hands over to the fiber of the next thread that can go on,
// or to an idle one if that has yet to start.
class Machine {
 public:
  void run(const Launch& launch);

  ThreadBlock& block() { return block_; }
  void sync_block(Place place) {
    if (!block_.arrive_at_barrier(running.thread, {"sync_block", place})) wait();
  }
  // `before_others(warp)` is called by the last lane, before any of them goes on.
  template <class Function>
  void meet(const Meeting& meeting, Function before_others) {
    if (block_.arrive_in_warp(running.thread, meeting)) {
      before_others(block_.warp_of(running.thread));
    } else {
      wait();
    }
  }

 private:
  static void fiber_body() {
    for (;;) machine->run_thread();
  }

  [[noreturn, gnu::noinline]] void fail_stuck() const {
    throw BrokenInvariant(fmt::format("no thread of the kernel {} can go on", launch_->kernel));
  }
  void run_thread();
  void wait();
  bool start_block();
  Fiber& idle_fiber();
  void switch_to(Fiber& fiber);
  void abandon_fibers();

  ThreadBlock block_;
  const Launch* launch_ = nullptr;
  int64_t first_block_ = 0, started_ = 0;  // blocks start at a random one
  std::exception_ptr failure_;

  Fiber host_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  Fiber* fiber_ = &host_;                           // that runs
  std::array<Fiber*, most_threads> fiber_of_ = {};  // of a thread that waits; null: it has yet to start
};

void Machine::run(const Launch& launch) {
  CHECK(machine == nullptr, "the kernel {} launches another one", launch_->kernel);
  block_.prepare(launch, seed());
  launch_ = &launch;
  failure_ = nullptr;
  first_block_ = block_.order.below(launch.blocks);
  started_ = 0;
  start_block();
  running.thread = block_.order.next();
  Fiber& fiber = idle_fiber();
  machine = this;
  switch_to(fiber);
  machine = nullptr;
  if (failure_ == nullptr) return;
  abandon_fibers();
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

// All fibers become idle.
void Machine::abandon_fibers() {
  idle_.clear();
  for (const auto& fiber : fibers_) {
    fiber->restart();
    idle_.push_back(fiber.get());
  }
}

bool Machine::start_block() {
  if (started_ == launch_->blocks) return false;
  running = {(first_block_ + started_) % launch_->blocks, launch_->blocks, 0, launch_->threads};
  ++started_;
  std::fill_n(fiber_of_.begin(), launch_->threads, nullptr);
  block_.start(running.block);
  return true;
}

// Runs the thread, which has yet to start, then goes on with what is next. Returns when this fiber has another.
void Machine::run_thread() {
  try {
    launch_->body(launch_->argument);
    block_.finish(running.thread);
    if (!block_.finished() && block_.order.empty()) fail_stuck();
  } catch (...) {
    failure_ = std::current_exception();
  }
  Fiber* next = nullptr;
  if (failure_ != nullptr || (block_.finished() && !start_block())) {
    next = &host_;
  } else {
    running.thread = block_.order.next();
    next = fiber_of_[static_cast<size_t>(running.thread)];
  }
  if (next == nullptr) return;
  idle_.push_back(fiber_);
  switch_to(*next);
}

void Machine::wait() {
  if (block_.order.empty()) fail_stuck();
  fiber_of_[static_cast<size_t>(running.thread)] = fiber_;
  running.thread = block_.order.next();
  Fiber* const next = fiber_of_[static_cast<size_t>(running.thread)];
  switch_to(next != nullptr ? *next : idle_fiber());
}

Fiber& Machine::idle_fiber() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(static_cast<int>(fibers_.size()), fiber_body));
    idle_.reserve(fibers_.size());
    return *fibers_.back();
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void Machine::switch_to(Fiber& fiber) {
  Fiber& from = *fiber_;
  fiber_ = &fiber;
  from.switch_to(fiber);
}

// Errors are written in functions of their own, so that the frames that lie on a waiting thread's stack stay small.
[[noreturn, gnu::noinline]] void fail_outside() {
  throw BrokenInvariant("a word of the GPU's kernels is used outside of a launch");
}

[[noreturn, gnu::noinline]] void fail_lane(const ThreadBlock& block, int from, const Meeting& meeting) {
  block.fail(fmt::format("thread {} wants what lane {} of {} has, in {} at {}:{}", running.thread, from,
                         warp_lanes, meeting.word, meeting.place.file, meeting.place.line));
}

Machine& running_machine() {
  if (machine == nullptr) fail_outside();
  return *machine;
}

// The larger one; a number if either is one, and +0 rather than -0, as a GPU has it.
float larger(float a, float b) {
  if (a > b || std::isnan(b)) return a;
  if (b > a || std::isnan(a)) return b;
  return std::signbit(a) ? b : a;
}

// Over all lanes: each has the same bits, since it takes the same operands in one order or the other.
template <class Function>
float reduce(float x, const Meeting& meeting, Function combine) {
  Machine& m = running_machine();
  Warp& warp = m.block().warp_of(running.thread);
  const auto turn = static_cast<size_t>(warp.turn), lane = static_cast<size_t>(running.thread % warp_lanes);
  warp.values[turn][lane] = std::bit_cast<uint32_t>(x);
  m.meet(meeting, [&](Warp&) {
    std::array<float, warp_lanes> values;
    for (size_t i = 0; i < warp_lanes; ++i)
      values[i] = std::bit_cast<float>(static_cast<uint32_t>(warp.values[turn][i]));
    for (size_t half = warp_lanes / 2; half > 0; half /= 2)
      for (size_t i = 0; i < half; ++i) values[i] = combine(values[i], values[i + half]);
    warp.results[turn] = values[0];
  });
  return warp.results[turn];
}

uint64_t exchange(uint64_t x, int from, const Meeting& meeting) {
  Machine& m = running_machine();
  Warp& warp = m.block().warp_of(running.thread);
  const auto turn = static_cast<size_t>(warp.turn), lane = static_cast<size_t>(running.thread % warp_lanes);
  if (from < 0 || from >= warp_lanes) fail_lane(m.block(), from, meeting);
  warp.values[turn][lane] = x;
  m.meet(meeting, [](Warp&) {});
  return warp.values[turn][static_cast<size_t>(from)];
}

float bf16_of(uint32_t pair, size_t half) {
  return std::bit_cast<float>(half == 0 ? pair << 16 : pair & 0xffff0000);
}

// Of all lanes' parts. Each sum is one chain of additions, as k ascends.
void add_products(const std::array<const ProductPart*, warp_lanes>& parts) {
  std::array<std::array<float, 16>, 16> a;
  std::array<std::array<float, 8>, 16> b;
  for (size_t lane = 0; lane < warp_lanes; ++lane) {
    const size_t g = lane / 4, t = lane % 4;
    for (size_t half = 0; half < 2; ++half) {
      for (size_t i = 0; i < 4; ++i)
        a[g + i % 2 * 8][2 * t + half + i / 2 * 8] = bf16_of(parts[lane]->a[i], half);
      for (size_t i = 0; i < 2; ++i) b[2 * t + half + i * 8][g] = bf16_of(parts[lane]->b[i], half);
    }
  }
  for (size_t lane = 0; lane < warp_lanes; ++lane) {
    for (size_t i = 0; i < 4; ++i) {
      const size_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float& sum = parts[lane]->sums[i];
      for (size_t k = 0; k < 16; ++k) sum = std::fma(a[row][k], b[k][column], sum);
    }
  }
}

}  // namespace

void run(const Launch& launch) {
  thread_local Machine of_this_thread;
  const KernelAccess access;
  of_this_thread.run(launch);
}

void set_thread_order_seed(uint64_t value) { seed() = value; }

void sync_block(Place place) { running_machine().sync_block(place); }

void sync_warp(Place place) {
  Machine& m = running_machine();
  m.meet({"sync_warp", place}, [&](Warp&) { m.block().advance_warp(running.thread); });
}

uint64_t shuffle(uint64_t x, int from, Place place) { return exchange(x, from, {"shuffle", place}); }

uint64_t shuffle_xor(uint64_t x, int mask, Place place) {
  return exchange(x, (running.thread % warp_lanes) ^ mask, {"shuffle_xor", place});
}

float warp_sum(float x, Place place) {
  return reduce(x, {"warp_sum", place}, [](float a, float b) { return a + b; });
}

float warp_max(float x, Place place) { return reduce(x, {"warp_max", place}, larger); }

// Whoever waits keeps its part on its stack until all go on.
void add_product(const ProductPart& part, Place place) {
  Machine& m = running_machine();
  Warp& warp = m.block().warp_of(running.thread);
  const auto turn = static_cast<size_t>(warp.turn), lane = static_cast<size_t>(running.thread % warp_lanes);
  warp.values[turn][lane] = reinterpret_cast<uintptr_t>(&part);
  m.meet({"add_product", place}, [&](Warp&) {
    std::array<const ProductPart*, warp_lanes> parts;
    for (size_t i = 0; i < warp_lanes; ++i)
      parts[i] = reinterpret_cast<const ProductPart*>(static_cast<uintptr_t>(warp.values[turn][i]));
    add_products(parts);
  });
}

const void* read_shared(int64_t offset, int64_t bytes, Place place) {
  return running_machine().block().read(running.thread, offset, bytes, place);
}

void* write_shared(int64_t offset, int64_t bytes, Place place) {
  return running_machine().block().write(running.thread, offset, bytes, place);
}

void check_alignment(size_t offset, size_t element_bytes, Place place) {
  if (offset % element_bytes == 0) return;
  running_machine().block().fail(
      fmt::format("shared memory from byte {} on has elements of {} bytes at {}:{}", offset, element_bytes,
                  place.file, place.line));
}

void check_address(const void* address, size_t bytes, Place place) {
  if (reinterpret_cast<uintptr_t>(address) % bytes == 0) return;
  running_machine().block().fail(
      fmt::format("thread {} reads or writes {} bytes at once, at an address that is no "
                  "multiple of them, at {}:{}",
                  running.thread, bytes, place.file, place.line));
}

}  // namespace dragoman::internal::on_host
