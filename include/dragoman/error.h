// The library's only exception type, apart from std::bad_alloc and exceptions from callbacks.
#pragma once

#include <stdexcept>
#include <string>

#include "dragoman/export.h"

namespace dragoman {

enum class ErrorKind {
  failure,    // a missing or damaged file, a full disk, a model that computes NaN
  usage,      // an option or argument that is unknown or out of range
  cancelled,  // the request's stop token was triggered
  expired,    // the request's timeout has passed
  internal,   // a bug of the library: please report it
};

// The message is one sentence: what is wrong, where, and what to do.
class DRAGOMAN_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ErrorKind kind = ErrorKind::failure);
  ~Error() override;

  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace dragoman
