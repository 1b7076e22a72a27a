// Converts internal errors into public ones at the library's boundary. Exceptions from callbacks pass through
// unchanged.
#pragma once

#include <exception>
#include <filesystem>

#include "base/error.h"
#include "dragoman/error.h"

namespace dragoman::internal {

// What a callback threw, on its way to the boundary: not a std::exception, so that nothing takes it for the engine's.
struct CallbackException {
  std::exception_ptr thrown;
};

// Calls what the user gave.
template <typename Function>
void call_back(const Function& function) {
  try {
    function();
  } catch (...) {
    throw CallbackException{std::current_exception()};
  }
}

// Rethrows the exception that is being handled. The engine's own Errors are public ones already.
[[noreturn]] inline void rethrow_as_public() {
  try {
    throw;
  } catch (const CallbackException& of_user) {
    std::rethrow_exception(of_user.thrown);
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
