// Translation memories that grow: on several threads, on a disk that fails, in place of a damaged one.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/replacement.h"
#include "faulty_disk.h"
#include "memory/builder.h"
#include "memory/memory.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

class AddingToMemory : public testing::Test {
 protected:
  ~AddingToMemory() override {
    faulty_disk = {};
    set_log_sink({});
  }

  std::string build(const std::string& from = "en") const {
    MemoryBuilder builder(folder_.path("memory"), from, "fr");
    builder.add({"first", "premier", "test"});
    builder.finish();
    return folder_.path("memory");
  }

  // With the sources "begin" to "end - 1".
  static void add(TranslationMemory& memory, int begin, int end) {
    std::vector<MemorySegment> segments;
    for (int i = begin; i < end; ++i) segments.push_back({std::to_string(i), "x"});
    memory.add(segments);
  }

  static std::vector<std::string> sources(const TranslationMemory& memory) {
    std::vector<std::string> list;
    memory.for_each([&](const MemorySegmentView& segment) { list.emplace_back(segment.source); });
    return list;
  }

  // In the memory, and on the disk.
  static void expect_sources(const TranslationMemory& memory, const std::vector<std::string>& wanted) {
    EXPECT_EQ(sources(memory), wanted);
    EXPECT_EQ(sources(TranslationMemory(memory.folder(), MemoryAccess::read)), wanted);
  }

  TemporaryFolder folder_;
};

// What was added is found at once, and nothing that was there is ever missing.
TEST_F(AddingToMemory, OnSeveralThreadsWhileOthersLookUp) {
  constexpr int threads = 3, rounds = 30;
  const std::string folder = build();
  TranslationMemory memory(folder, MemoryAccess::add);
  std::atomic<int> adding = threads;
  std::vector<std::thread> adders;
  for (int thread = 0; thread < threads; ++thread)
    adders.emplace_back([&, thread] {
      for (int i = thread * rounds; i < (thread + 1) * rounds; ++i) {
        add(memory, i, i + 1);
        EXPECT_TRUE(memory.exact(std::to_string(i), {})) << i;
        if (i % 7 == 0) memory.fold();
      }
      --adding;
    });
  size_t before = 1;
  while (adding > 0) {
    const size_t size = memory.size(), seen = sources(memory).size();
    EXPECT_GE(size, before);
    EXPECT_GE(seen, size);
    before = seen;
    EXPECT_EQ(memory.look_up("first", {}).at(0).segment.target, "premier");
    memory.verify();
  }
  for (std::thread& adder : adders) adder.join();
  EXPECT_EQ(memory.size(), 1u + threads * rounds);
  EXPECT_EQ(sources(memory), sources(TranslationMemory(folder, MemoryAccess::read)));
}

TEST_F(AddingToMemory, LookUpsDoNotWaitForAFold) {
  const std::string folder = build();
  TranslationMemory memory(folder, MemoryAccess::add);
  add(memory, 0, 1);
  const std::string part = folder + "/" + read_manifest(folder).new_name("segments"),
                    pipe = replacement_name(part);  // who opens it to write waits for a reader
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  faulty_disk = {.fault = Fault::io_error};  // and then fails
  std::atomic<bool> folded = false;
  std::thread folding([&] {
    EXPECT_THROW(memory.fold(), Error);
    folded = true;
  });
  const auto looking = std::async(std::launch::async, [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) {
      EXPECT_TRUE(memory.exact("0", {}));
      EXPECT_EQ(memory.look_up("first", {}).size(), 1u);
      EXPECT_EQ(memory.size(), 2u);
    }
  });
  EXPECT_EQ(looking.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_FALSE(folded) << "it does not write to the pipe";
  const int reader = open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  folding.join();
  close(reader);
}

// Not even a part of a line is left in the log, behind the shorter ones that come next.
TEST_F(AddingToMemory, AnAddThatFailsChangesNothing) {
  for (int64_t call = 0;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    TranslationMemory memory(build(), MemoryAccess::add);
    bool is_added = true;
    faulty_disk = {.fault = Fault::no_space, .at = call};
    try {
      add(memory, 1000, 1003);
    } catch (const Error&) {
      is_added = false;
    }
    faulty_disk = {};
    if (is_added) {
      EXPECT_EQ(call, 2) << "an add writes and flushes";
      return;
    }
    expect_sources(memory, {"first"});
    add(memory, 0, 1);
    expect_sources(memory, {"first", "0"});
  }
}

TEST_F(AddingToMemory, AFoldThatFailsLosesNothing) {
  for (int64_t call = 0;; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    TranslationMemory memory(build(), MemoryAccess::add);
    add(memory, 0, 1);
    bool is_folded = true;
    faulty_disk = {.fault = Fault::io_error, .at = call};
    try {
      memory.fold();
    } catch (const Error&) {
      is_folded = false;
    }
    faulty_disk = {};
    expect_sources(memory, {"first", "0"});
    add(memory, 1, 2);
    expect_sources(memory, {"first", "0", "1"});
    memory.fold();
    add(memory, 2, 3);
    expect_sources(memory, {"first", "0", "1", "2"});
    if (!is_folded) continue;
    EXPECT_GE(call, 6) << "calls of a fold that could fail";
    return;
  }
}

// They are in the log. It is folded when it has grown by as much again as makes it long.
TEST_F(AddingToMemory, SegmentsAreKeptWhereTheDiskIsTooFullToFoldThem) {
  const std::string folder = build();
  std::vector<std::string> warnings;
  set_log_level(LogLevel::warning);
  set_log_sink([&](LogLevel, const std::string& line) { warnings.push_back(line); });
  TranslationMemory memory(folder, MemoryAccess::add);
  faulty_disk = {.fault = Fault::full_from_here, .at = 2};  // once they are written and flushed
  add(memory, 0, 20'000);
  faulty_disk = {};
  add(memory, 20'000, 20'001);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(folder), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[0].find("free space"), std::string::npos) << warnings[0];
  EXPECT_EQ(sources(TranslationMemory(folder, MemoryAccess::read)).size(), 20'002u);
  add(memory, 20'001, 39'999);
  EXPECT_EQ(read_manifest(folder).parts, std::vector<std::string>{"segments-1"});
  add(memory, 39'999, 40'000);
  EXPECT_EQ(read_manifest(folder).parts, std::vector<std::string>{"segments-3"});
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(memory.size(), 40'001u);
}

// Which is a line of the log each time.
TEST_F(AddingToMemory, TheLogIsFoldedHoweverOftenASourceIsAddedAgain) {
  const std::string folder = build();
  const MemorySegment again = {"first", "deuxième"};
  const std::vector<MemorySegment> often(10'000, again);
  TranslationMemory(folder, MemoryAccess::add).add(often);
  TranslationMemory memory(folder, MemoryAccess::add);
  EXPECT_EQ(read_manifest(folder).parts, std::vector<std::string>{"segments-1"});
  memory.add(often);
  EXPECT_EQ(read_manifest(folder).parts, std::vector<std::string>{"segments-3"});
  memory.add({&again, 1});
  EXPECT_EQ(read_manifest(folder).parts, std::vector<std::string>{"segments-3"}) << "its log is a new one";
  EXPECT_EQ(memory.look_up("first", {}).at(0).segment.target, "deuxième");
}

TEST_F(AddingToMemory, ItsLanguagesStayWhereTheyAre) {
  TranslationMemory memory(build("en-x-a-language-with-a-long-name"), MemoryAccess::add);
  const std::string_view from = memory.from();
  add(memory, 0, 1);
  memory.fold();
  EXPECT_EQ(memory.from().data(), from.data());
}

TEST_F(AddingToMemory, ADamagedMemoryIsBuiltAgain) {
  const std::pair<const char*, const char*> damages[] = {
      {"segments-1", "x"}, {"log-2", "x\nx\n"}, {"memory.json", "{"}, {"memory.json", R"({"format": 99})"}};
  for (const auto& [file, bytes] : damages) {
    const std::string folder = build();
    std::ofstream(folder + "/" + file) << bytes;
    EXPECT_THROW(TranslationMemory(folder, MemoryAccess::read), Error) << file;
    EXPECT_NO_THROW(build()) << file;
    EXPECT_EQ(sources(TranslationMemory(folder, MemoryAccess::read)), std::vector<std::string>{"first"});
  }
}

TEST_F(AddingToMemory, ALogThatCannotBeCutIsClosed) {
  const size_t open_files = entries_of("/proc/self/fd").size();
  EXPECT_THROW(MemoryLog("/dev/null", 0), Error);
  EXPECT_EQ(entries_of("/proc/self/fd").size(), open_files);
}

}  // namespace
}  // namespace dragoman::internal
