// Who has a run's folder.
#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

TEST(RunLocks, TellWhetherARunTrains) {
  const TemporaryFolder folder;
  const std::string run = folder.path("run");
  EXPECT_FALSE(is_training(run)) << "there is no such folder";
  std::filesystem::create_directory(run);
  EXPECT_FALSE(is_training(run));
  {
    const RunLock lock(run);
    EXPECT_TRUE(is_training(run));
    EXPECT_THROW(RunLock{run}, Error);
    EXPECT_TRUE(is_training(run));
  }
  EXPECT_FALSE(is_training(run));
}

// On a busy machine a look may take longer than any run waits, but not always.
TEST(RunLocks, ALookDoesNotKeepARunFromStarting) {
  const TemporaryFolder folder;
  const auto starts_during_a_look = [&] {
    const int look = open(folder.path(".").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(flock(look, LOCK_SH), 0);
    const std::jthread end([look] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      close(look);
    });
    try {
      const RunLock lock(folder.path("."));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  int attempts = 1;
  while (attempts < 10 && !starts_during_a_look()) ++attempts;
  EXPECT_LT(attempts, 10);
}

}  // namespace
}  // namespace dragoman::internal
