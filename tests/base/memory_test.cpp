#include "base/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

// A made-up machine with 8 GB to spare.
class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    put("/proc/meminfo", "MemTotal:  9000000 kB\nMemFree:  100 kB\nMemAvailable:    8000000 kB\n");
  }
  ~MemoryTest() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    write_file(root_ + path, {text});
  }

  const std::string root_ = testing::TempDir() + "root";
};

TEST_F(MemoryTest, IsWhatTheMachineHasToSpare) {
  EXPECT_EQ(available_memory(root_), 8000000LL * 1024);
  EXPECT_GT(available_memory(), 1 << 20);
}

TEST_F(MemoryTest, IsLessInAGroupWithALimitWhichMayBeThatOfAGroupAroundIt) {
  put("/proc/self/cgroup", "0::/jobs/mine\n");
  put("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
  EXPECT_EQ(available_memory(root_), 8000000LL * 1024);
  put("/sys/fs/cgroup/jobs/memory.max", "1000000\n");
  put("/sys/fs/cgroup/jobs/memory.current", "700000\n");
  EXPECT_EQ(available_memory(root_), 300000);
  put("/sys/fs/cgroup/jobs/memory.stat", "anon 500000\ninactive_file 200000\n");  // given up when need be
  EXPECT_EQ(available_memory(root_), 500000);
  put("/sys/fs/cgroup/memory.max", "100\n");  // a container sees itself as the root
  put("/sys/fs/cgroup/memory.current", "200\n");
  EXPECT_EQ(available_memory(root_), 0);
}

TEST_F(MemoryTest, KnowsTheFirstVersionOfGroupsToo) {
  put("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // its word for none
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(available_memory(root_), 8000000LL * 1024);
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000\n");
  put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(available_memory(root_), 3000);
}

TEST(PeakMemory, IsWhatWasThereAtOnce) {
#if defined(DRAGOMAN_THREAD_SANITIZER)
  GTEST_SKIP() << "the sanitizer remembers all memory that was ever written";
#endif
  if (access("/proc/self/clear_refs", W_OK) != 0) GTEST_SKIP() << "this system forgets no peak";
  constexpr int64_t megabytes = int64_t{64} << 20;
  const int64_t before = peak_memory();
  void* const large =  // not of the heap, which may keep it
      mmap(nullptr, megabytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(large, MAP_FAILED);
  std::memset(large, 1, megabytes);
  munmap(large, megabytes);
  EXPECT_GE(peak_memory(), megabytes);
  forget_peak_memory();
  EXPECT_LE(peak_memory(), before + megabytes / 2);
}

}  // namespace
}  // namespace dragoman::internal
