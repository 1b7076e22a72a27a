// The program. Exit codes: 0 success, 1 failure, 2 usage error, 130, 141 and 143 stopped by a signal.
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>

#include "app/commands.h"
#include "app/output.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"

namespace {

// Without a message if another process reports it, or if the reader of the output is gone.
int fail(int exit_code, const std::string& message) {
  std::cout.flush();
  if (!message.empty()) std::cerr << "dragoman: " << message << "\n";
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace dragoman::internal;
  set_log_level(LogLevel::info);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit on the size of files fails like any other
  try {
    run_program({argv + 1, argv + argc});
    flush_output();
    return 0;
  } catch (const Stopped& stopped) {
    return fail(128 + stopped.signal, stopped.what());
  } catch (const dragoman::Error& error) {
    return fail(error.kind() == dragoman::ErrorKind::usage ? 2 : 1, error.what());
  } catch (const std::bad_alloc&) {
    return fail(1, "out of memory: use a smaller model or smaller batches");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(1, error.path1().string() + ": " + error.code().message());
  } catch (const std::exception& error) {
    return fail(1, std::string("internal error, please report it: ") + error.what());
  }
}
