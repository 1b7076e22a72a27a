// Tasks of several clients on a few threads.
#include "serve/translations/worker_pool.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

TEST(WorkerPool, ClientsTakeTurns) {
  std::string order;
  std::promise<void> release;
  {
    WorkerPool pool(1);
    pool.run([released = release.get_future().share()] { released.wait(); }, 9);
    for (int i = 0; i < 4; ++i) pool.run([&order] { order += 'a'; }, 1);
    for (int i = 0; i < 2; ++i) pool.run([&order] { order += 'b'; }, 2);
    pool.run([&order] { order += 'c'; }, 3);
    release.set_value();
  }
  EXPECT_EQ(order, "abcabaa");
}

TEST(WorkerPool, OneClientCannotHaveAllThreads) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::atomic<int> of_one{0}, of_two{0}, of_three{0};
  WorkerPool pool(16);
  for (int i = 0; i < 40; ++i) {
    pool.run(
        [&, released] {
          ++of_one;
          released.wait();
        },
        1);
  }
  EXPECT_TRUE(eventually([&] { return of_one == 14; }));
  for (int i = 0; i < 2; ++i) {
    pool.run(
        [&, released] {
          ++of_two;
          released.wait();
        },
        2);
  }
  pool.run([&] { ++of_three; }, 3);
  EXPECT_TRUE(eventually([&] { return of_two == 1 && of_three == 1; }));
  EXPECT_EQ(of_one, 14);
  release.set_value();
  EXPECT_TRUE(eventually([&] { return of_one == 40 && of_two == 2; }));
}

// The other client's next task, and this client's on the reserved thread.
TEST(WorkerPool, TheEndOfATaskMayLetTwoBegin) {
  std::promise<void> first, all;
  std::atomic<int> of_one{0}, of_two{0};
  WorkerPool pool(8);
  const auto task = [](std::atomic<int>& begun, std::promise<void>& promise) {
    return [&begun, released = promise.get_future().share()] {
      ++begun;
      released.wait();
    };
  };
  const std::function<void()> waits_for_all = task(of_one, all);
  pool.run(task(of_two, first), 2);
  for (int i = 0; i < 7; ++i) pool.run(waits_for_all, 1);
  EXPECT_TRUE(eventually([&] { return of_one == 6 && of_two == 1; }));
  pool.run([&] { ++of_two; }, 2);
  first.set_value();
  EXPECT_TRUE(eventually([&] { return of_one == 7 && of_two == 2; }));
  all.set_value();
}

TEST(WorkerPool, ATaskMayGiveItAnotherWhileItEnds) {
  std::atomic<int> done{0};
  std::promise<void> begun;
  {
    WorkerPool pool(4);
    pool.run([&] {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the pool ends
      for (int i = 0; i < 3; ++i) pool.run([&] { ++done; });
    });
    begun.get_future().wait();
  }
  EXPECT_EQ(done, 3);
}

TEST(WorkerPool, SurvivesWhatATaskThrows) {
  std::promise<void> done;
  WorkerPool pool(1);
  pool.run([] { throw std::runtime_error("out of something"); });
  pool.run([&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

}  // namespace
}  // namespace dragoman::internal
