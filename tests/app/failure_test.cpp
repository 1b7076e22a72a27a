#include "app/failure.h"

#include <cstdlib>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"

namespace {

thread_local bool memory_is_gone = false;

}  // namespace

void* operator new(size_t size) {
  void* memory = memory_is_gone ? nullptr : std::malloc(size);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return memory_is_gone ? nullptr : std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace dragoman::internal {
namespace {

// What is reported of an exception.
template <class Exception>
std::string report_of(const Exception& exception, bool without_memory, int expected_code) {
  testing::internal::CaptureStderr();
  int exit_code = -1;
  try {
    throw exception;
  } catch (...) {
    memory_is_gone = without_memory;
    exit_code = report_failure();
    memory_is_gone = false;
  }
  EXPECT_EQ(exit_code, expected_code);
  return testing::internal::GetCapturedStderr();
}

constexpr const char* out_of_memory = "dragoman: out of memory: use a smaller model or smaller batches\n";

TEST(Failure, IsOneSentence) {
  EXPECT_EQ(report_of(Error("wrong"), false, 1), "dragoman: wrong\n");
  EXPECT_EQ(report_of(UsageError("wrong"), false, 2), "dragoman: wrong\n");
  EXPECT_EQ(report_of(std::bad_alloc(), false, 1), out_of_memory);
  EXPECT_EQ(report_of(std::runtime_error("x"), false, 1), "dragoman: internal error, please report it: x\n");
}

TEST(Failure, ASystemErrorWithoutAPathIsASentence) {
  const auto denied = std::make_error_code(std::errc::permission_denied);
  EXPECT_EQ(report_of(std::filesystem::filesystem_error("", "a/b", denied), false, 1),
            "dragoman: cannot access a/b: Permission denied\n");
  EXPECT_EQ(report_of(std::filesystem::filesystem_error("", denied), false, 1),
            "dragoman: cannot access a file or folder: Permission denied\n");
}

TEST(Failure, NeedsNoMemory) {
  EXPECT_EQ(report_of(std::bad_alloc(), true, 1), out_of_memory);
  EXPECT_EQ(report_of(Error("wrong"), true, 1), "dragoman: wrong\n");
  EXPECT_EQ(report_of(std::runtime_error("the message takes memory"), true, 1), out_of_memory);
}

TEST(FailureDeathTest, AThreadWithoutMemoryEndsTheProgramWithASentence) {
  const auto throw_in_thread = [] {
    report_uncaught_failures();
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(throw_in_thread(), testing::ExitedWithCode(1), "dragoman: out of memory");
}

}  // namespace
}  // namespace dragoman::internal
