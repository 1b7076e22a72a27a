#include "parallel/processes.h"

#include <cstdlib>

#include "parallel/join.h"
#include "parallel/thread_processes.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

TEST(ProcessesTest, WithoutALauncherThereIsOne) {
  const auto processes = join_processes();
  EXPECT_EQ(processes->count(), 1);
  EXPECT_TRUE(processes->first());
  EXPECT_EQ(processes->gather(7), std::vector<int>{7});
  EXPECT_EQ(processes->broadcast("text"), "text");
}

TEST(ProcessesTest, TheFirstOneWorksBeforeTheOthers) {
  std::atomic<int> done{0};
  run_together(3, [&](Processes& processes) {
    run_on_first_then_others(processes, [&] {
      EXPECT_EQ(done > 0, !processes.first());
      ++done;
    });
  });
  EXPECT_EQ(done, 3);
}

}  // namespace
}  // namespace dragoman::internal
