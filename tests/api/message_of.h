// The message of the error that an action ends with.
#pragma once

#include <functional>
#include <string>

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

}  // namespace dragoman
