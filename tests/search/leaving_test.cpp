// Searches that leave: what another one is reading then, or adds, ends all the same.
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "search/queue/scheduler.h"
#include "search/text_requests.h"

namespace dragoman::internal {
namespace {

using LeavingTest = TranslatorTest;

class MadeJob : public SearchJob {
 public:
  MadeJob(std::function<size_t()> read, std::function<void(const JobEnd&)> on_end)
      : read_(std::move(read)), on_end_(std::move(on_end)) {}
  size_t read() override { return read_(); }
  void end(JobEnd end) override { on_end_(end); }

 private:
  std::function<size_t()> read_;
  std::function<void(const JobEnd&)> on_end_;
};

// Where one search reads a long text, another may leave: the text ends when it has been read. If the other one does not
// leave, it keeps what it uses.
TEST_F(LeavingTest, WhatIsReadWhileAllEndsIsEndedAfterIt) {
  std::promise<void> reading, release, left;
  std::promise<SearchStatus> ended;
  const auto translator = std::make_shared<Translator>(model_, BatchLimits{.sentences = 3});
  translator->scheduler.add(std::make_unique<MadeJob>(
                                [&reading, released = release.get_future().share()] {
                                  reading.set_value();
                                  released.wait();
                                  return size_t{1};
                                },
                                [&ended](const JobEnd& end) { ended.set_value(end.status); }),
                            {});
  translator->searches.start();
  reading.get_future().wait();
  translator->scheduler.stop();
  const auto leaves = left.get_future();
  std::thread other([translator, left = std::move(left)]() mutable {
    translator->scheduler.end_all();
    left.set_value();
  });
  const bool has_left = leaves.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
  release.set_value();
  if (!has_left) other.detach();
  ASSERT_TRUE(has_left);
  other.join();
  EXPECT_EQ(ended.get_future().get(), SearchStatus::cancelled);
}

// The first search has left when the end of a job adds another on the second one's thread.
TEST_F(LeavingTest, WhatIsAddedOnTheLastThreadEndsThere) {
  std::promise<void> in_task, release;
  std::promise<SearchStatus> late;
  Translator translator(model_, {.sentences = 3, .further_devices = {&kernels_for(nullptr)}});
  translator.scheduler.add(std::make_unique<TaskJob>(
                               [&] {
                                 in_task.set_value();
                                 release.get_future().wait();
                               },
                               [](const JobEnd&) {}),
                           {});
  const auto owner = std::make_shared<int>(0);
  translator.searches.start(owner);
  in_task.get_future().wait();
  const auto stop_and_add = [&](const JobEnd&) {
    translator.scheduler.stop();
    release.set_value();
    for (int i = 0; i < 10'000 && owner.use_count() > 2; ++i)  // the test's, and this thread's
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(owner.use_count(), 2);
    translator.scheduler.add(
        std::make_unique<MadeJob>([] { return size_t{1}; },
                                  [&](const JobEnd& end) { late.set_value(end.status); }),
        {});
  };
  translator.scheduler.add(std::make_unique<MadeJob>([] { return size_t{0}; }, stop_and_add), {});
  auto status = late.get_future();
  ASSERT_EQ(status.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(status.get(), SearchStatus::cancelled);
}

}  // namespace
}  // namespace dragoman::internal
