#include "base/threads.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/log.h"
#include "stack_size.h"

namespace dragoman::internal {
namespace {

template <class Body>
void for_each(ThreadPool& pool, int64_t count, Body body) {
  pool.run(
      count, [](void* argument, int64_t task, int worker) { (*static_cast<Body*>(argument))(task, worker); },
      &body);
}

class Threads : public testing::TestWithParam<int> {};

// The counts are plain integers: a task that ran twice at once, or after run() returned, is a race as well.
TEST_P(Threads, EachTaskRunsOnceInEveryLoop) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (int64_t count : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> runs(static_cast<size_t>(count));
    for (int loop = 0; loop < 20; ++loop)
      for_each(pool, count, [&](int64_t t, int) { ++runs[static_cast<size_t>(t)]; });
    EXPECT_EQ(runs, std::vector<int>(static_cast<size_t>(count), 20)) << count << " tasks";
  }
}

// What a loop wrote can be read after it, and by the tasks of the next one.
TEST_P(Threads, ALoopSeesWhatTheOneBeforeWrote) {
  ThreadPool pool(GetParam());
  constexpr int64_t size = 50;
  std::vector<int64_t> from(size), to(size);
  std::iota(from.begin(), from.end(), 0);
  for (int loop = 0; loop < 300; ++loop) {
    for_each(pool, size, [&](int64_t t, int) {
      to[static_cast<size_t>(t)] = from[static_cast<size_t>((t + 1) % size)] + 1;
    });
    from.swap(to);
  }
  for (int64_t t = 0; t < size; ++t) EXPECT_EQ(from[static_cast<size_t>(t)], (t + 300) % size + 300);
}

// Each begins with its own share, whatever the loop: what it wrote in the one before is in its cache. All take part,
// since no first task ends before all have one.
TEST_P(Threads, BeginWithTheirShare) {
  ThreadPool pool(GetParam());
  ASSERT_EQ(pool.size(), GetParam());
  const auto threads = static_cast<size_t>(GetParam());
  for (const int64_t count : {64, 65, 1000}) {
    std::vector<int64_t> first(threads, -1);
    std::atomic<size_t> begun = 0;
    for_each(pool, count, [&](int64_t t, int worker) {
      int64_t& mine = first[static_cast<size_t>(worker)];
      if (mine >= 0) return;
      mine = t;
      ++begun;
      while (begun < threads) std::this_thread::yield();
    });
    for (size_t i = 0; i < threads; ++i)
      EXPECT_EQ(first[i], count * static_cast<int64_t>(i) / GetParam())
          << "worker " << i << ", " << count << " tasks";
  }
}

// While one is at its first task, the others do what is left of its share.
TEST_P(Threads, TakeWhatIsLeftOfOthers) {
  if (GetParam() == 1) GTEST_SKIP() << "there are no others";
  ThreadPool pool(GetParam());
  constexpr int64_t count = 64;
  std::atomic<int64_t> others = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for_each(pool, count, [&](int64_t t, int) {
    if (t > 0) ++others;
    while (t == 0 && others < count - 1 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (t == 0) {
      EXPECT_EQ(others, count - 1);
    }
  });
}

// Two tasks never have one worker at the same time: what belongs to a worker needs no lock.
TEST_P(Threads, AWorkerHasOneTaskAtATime) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> sums(static_cast<size_t>(GetParam()));
  for (int loop = 0; loop < 100; ++loop) {
    for_each(pool, 40, [&](int64_t t, int worker) { sums.at(static_cast<size_t>(worker)) += t; });
  }
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 100 * 40 * 39 / 2);
}

// Tasks that a worker is slow with are finished when run() returns.
TEST_P(Threads, ReturnWhenAllIsDone) {
  ThreadPool pool(GetParam());
  for (int loop = 0; loop < 5; ++loop) {
    std::vector<int> done(8);
    for_each(pool, 8, [&](int64_t t, int worker) {
      if (worker > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      done[static_cast<size_t>(t)] = 1;
      if (worker == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
    EXPECT_EQ(done, std::vector<int>(8, 1));
  }
}

// Long pauses, after which the threads sleep, and pools that end while theirs do.
TEST_P(Threads, WakeUpAfterAPause) {
  int64_t total = 0;
  for (int pools = 0; pools < 5; ++pools) {
    ThreadPool pool(GetParam());
    for (int loop = 0; loop < 3; ++loop) {
      std::vector<int64_t> values(9);
      for_each(pool, 9, [&](int64_t t, int) { values[static_cast<size_t>(t)] = t; });
      total += std::accumulate(values.begin(), values.end(), int64_t{0});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_EQ(total, 5 * 3 * 36);
}

// However many take part from loop to loop.
TEST_P(Threads, AsManyWorkAsAreUsed) {
  ThreadPool pool(GetParam());
  for (int loop = 0; loop < 60; ++loop) {
    const int used = 1 + loop % GetParam();
    pool.limit_threads(used);
    std::vector<int> runs(50);
    std::atomic<int> last{0};
    for_each(pool, 50, [&](int64_t t, int worker) {
      ++runs[static_cast<size_t>(t)];
      if (worker > last) last = worker;
    });
    EXPECT_EQ(runs, std::vector<int>(50, 1));
    if (used == 1) {
      EXPECT_EQ(last, 0);
    }
  }
}

// What a task throws reaches the caller, and the pool goes on. Of several it is what the first one throws.
TEST_P(Threads, ATaskMayThrow) {
  ThreadPool pool(GetParam());
  const auto fail_from = [&](int64_t first) -> std::string {
    try {
      for_each(pool, 40, [&](int64_t t, int) {
        if (t >= first) throw Error("task {}", t);
      });
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (int loop = 0; loop < 50; ++loop) {
    EXPECT_EQ(fail_from(17), "task 17");
    EXPECT_EQ(fail_from(40), "no error");
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Threads, testing::Values(1, 2, 3, 4));

TEST(RefusedThreads, APoolGoesOnWithFewer) {
  std::vector<std::string> lines;
  set_log_level(LogLevel::warning);
  set_log_sink([&](LogLevel, const std::string& line) { lines.push_back(line); });
  std::optional<ThreadPool> pool;
  {
    const StackSize none_fits(whole_address_space);
    pool.emplace(4);
  }
  set_log_sink({});
  set_log_level(LogLevel::off);
  EXPECT_EQ(pool->size(), 1);
  EXPECT_EQ(lines, std::vector<std::string>({"the system refuses more threads: continuing with 1 of 4"}));
  std::vector<int> runs(9);
  for_each(*pool, 9, [&](int64_t t, int) { ++runs[static_cast<size_t>(t)]; });
  EXPECT_EQ(runs, std::vector<int>(9, 1));
}

TEST(RefusedThreads, SomeFit) {
  std::optional<ThreadPool> pool;
  {
    const StackSize a_few_fit(whole_address_space / 8);
    pool.emplace(20);
  }
  EXPECT_LT(pool->size(), 20);
  std::vector<int> runs(50);
  for_each(*pool, 50, [&](int64_t t, int) { ++runs[static_cast<size_t>(t)]; });
  EXPECT_EQ(runs, std::vector<int>(50, 1));
}

TEST(RefusedThreads, AnIndispensableOneIsAnError) {
  const StackSize none_fits(whole_address_space);
  EXPECT_THROW(start_thread([] {}), Error);
  EXPECT_FALSE(try_to_start_thread([] {}).joinable());
}

TEST(AvailableThreads, AtLeastOne) { EXPECT_GE(available_threads(), 1); }

}  // namespace
}  // namespace dragoman::internal
