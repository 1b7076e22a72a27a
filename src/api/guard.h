// Converts internal errors into public ones at the library's boundary. Exceptions from callbacks pass through
// unchanged.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "dragoman/error.h"

namespace dragoman::internal {

// Rethrows the exception that is being handled. The engine's own Errors are public ones already.
[[noreturn]] inline void rethrow_as_public() {
  try {
    throw;
  } catch (const dragoman::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw dragoman::Error(std::string("internal error, please report it: ") + error.what(),
                          ErrorKind::internal);
  }
}

template <typename Function>
auto guarded(const Function& function) {
  try {
    return function();
  } catch (...) {
    rethrow_as_public();
  }
}

}  // namespace dragoman::internal
