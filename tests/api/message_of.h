// The message and the kind of the error that an action ends with.
#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "dragoman/error.h"

namespace dragoman {

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline ErrorKind kind_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::internal;
}

}  // namespace dragoman
