#include "app/failure.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/signals.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view out_of_memory = "out of memory: use a smaller model or smaller batches";

iovec part(std::string_view text) {
  return {.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
}

// In one call and without allocating; for the first of several threads that fail. Without a message if another process
// reports it, or if the reader of the output is gone.
int fail(int exit_code, std::string_view message) {
  static std::atomic<std::thread::id> reporter;
  std::thread::id none;
  const auto self = std::this_thread::get_id();
  const bool first = reporter.compare_exchange_strong(none, self) || none == self;
  std::cout.flush();
  const iovec parts[] = {part("dragoman: "), part(message), part("\n")};
  if (!message.empty() && first) (void)!writev(STDERR_FILENO, parts, std::size(parts));
  return exit_code;
}

// Some of the standard library's errors lack the path.
std::string sentence_of(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().string();
  return fmt::format("cannot access {}: {}", path.empty() ? "a file or folder" : path,
                     error.code().message());
}

int report_current() {
  try {
    throw;
  } catch (const Stopped& stopped) {
    return fail(128 + stopped.signal, stopped.what());
  } catch (const dragoman::Error& error) {
    return fail(error.kind() == dragoman::ErrorKind::usage ? 2 : 1, error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, out_of_memory);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(1, sentence_of(error));
  } catch (const std::exception& error) {
    return fail(1, std::string("internal error, please report it: ") + error.what());
  }
}

void end_program() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    _exit(fail(1, out_of_memory));
  } catch (...) {}
  std::abort();
}

}  // namespace

int report_failure() noexcept {
  try {
    return report_current();
  } catch (const std::bad_alloc&) {  // of the message
    return fail(1, out_of_memory);
  }
}

void report_uncaught_failures() { std::set_terminate(end_program); }

}  // namespace dragoman::internal
