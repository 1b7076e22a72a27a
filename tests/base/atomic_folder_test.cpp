#include "base/atomic_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/folder_lock.h"
#include "base/signals.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

int flock_error = 0;  // with which this program's calls of flock fail

}  // namespace
}  // namespace dragoman::internal

extern "C" int flock(int file, int operation) noexcept {
  if (dragoman::internal::flock_error == 0) return static_cast<int>(syscall(SYS_flock, file, operation));
  errno = dragoman::internal::flock_error;
  return -1;
}

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

void make(const std::string& folder, const std::string& text) {
  AtomicFolder making(folder, "mark");
  write_file(making.path() + "/mark", {text});
  making.finish();
}

class AtomicFolderTest : public testing::Test {
 protected:
  std::string made() const { return read_file(folder.path("made/mark")); }

  const TemporaryFolder folder;
  const std::string path = folder.path("made");
};

TEST_F(AtomicFolderTest, LeavesFoldersOfOthersAlone) {
  for (const char* others : {"made.new", "made.old"}) {
    fs::create_directory(folder.path(others));
    folder.write(std::string(others) + "/mark", others);
  }
  make(path, "one");
  make(path + "/", "two");
  EXPECT_EQ(made(), "two");
  for (const std::string others : {"made.new", "made.old"})
    EXPECT_EQ(read_file(folder.path(others + "/mark")), others);
  EXPECT_EQ(entries_of(folder.path("")).size(), 3u) << "nothing else is left";
}

TEST_F(AtomicFolderTest, ReplacesWhatALinkLeadsTo) {
  fs::create_directories(folder.path("disk/other"));
  fs::create_directory_symlink("disk/other", path);
  make(path + "/", "one");
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(read_file(folder.path("disk/other/mark")), "one");
}

TEST_F(AtomicFolderTest, IsUnlockedWhereItCannotBeBegun) {
  const std::string making = path + ".dragoman-new";
  fs::create_directory_symlink("/proc/self/ns", making);  // whose files nobody can remove
  EXPECT_THROW(AtomicFolder(path, "mark"), Error);
  Descriptor another(making, O_RDONLY | O_DIRECTORY);
  EXPECT_TRUE(another.try_to_lock());
}

TEST_F(AtomicFolderTest, WaitsForAnotherAndSaysSo) {
  std::vector<std::string> lines;
  std::atomic<bool> waits = false;
  set_log_sink([&](LogLevel, const std::string& line) {
    lines.push_back(line);
    waits = true;
  });
  set_log_level(LogLevel::info);
  {
    std::optional<AtomicFolder> other(std::in_place, path, "mark");
    const std::jthread second([&] { make(path, "second"); });
    for (int i = 0; i < 10'000 && !waits; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(250));  // it looks several times
    write_file(other->path() + "/mark", {"first"});
    other->finish();
    EXPECT_EQ(made(), "first");
    other.reset();
  }
  set_log_level(LogLevel::off);
  set_log_sink({});
  EXPECT_EQ(made(), "second");
  EXPECT_EQ(lines, std::vector<std::string>{"waiting for another process to finish " + path});
}

[[noreturn]] void wait_and_be_stopped(const std::string& path) {
  alarm(20);  // ends a wait that does not end
  watch_signals();
  std::raise(SIGTERM);
  try {
    const AtomicFolder folder(path, "mark");
  } catch (const Stopped& stopped) {
    _exit(stopped.signal);
  }
  _exit(0);
}

TEST_F(AtomicFolderTest, ASignalEndsTheWait) {
  const AtomicFolder other(path, "mark");
  EXPECT_EXIT(wait_and_be_stopped(path), testing::ExitedWithCode(SIGTERM), "");
}

TEST_F(AtomicFolderTest, IsMadeWhereTheFileSystemHasNoLocks) {
  for (const int error : {ENOSYS, EOPNOTSUPP, ENOLCK}) {
    flock_error = error;
    make(path, "made");
    flock_error = 0;
    EXPECT_EQ(made(), "made");
    fs::remove_all(path);
  }
}

// Another process has removed the folder, or renamed it, by the time that its lock is free.
TEST_F(AtomicFolderTest, ALockIsOnTheFolderOfThisName) {
  for (const bool renames : {false, true}) {
    std::optional<Descriptor> other = lock_folder(path, [] { throw Error("nobody else has it"); });
    int waited = 0;
    const Descriptor lock = lock_folder(path, [&] {
      ++waited;
      renames ? fs::rename(path, path + ".renamed") : void(fs::remove(path));
      other.reset();
    });
    EXPECT_EQ(waited, 1);
    EXPECT_TRUE(is_named(lock.number(), path));
  }
}

}  // namespace
}  // namespace dragoman::internal
