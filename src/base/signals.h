// SIGINT, SIGTERM and SIGHUP as a request: work that watches for it finishes what it has begun, saves, and stops.
//
// A second SIGINT ends the program at once.
#pragma once

#include "base/error.h"

namespace dragoman::internal {

// From here on the signals are requests.
void watch_signals();

// The signal that asked to stop, or 0.
int stop_requested();

// Thrown by stopped work once everything is saved: the program exits with 128 + the signal's number.
class Stopped : public Error {
 public:
  Stopped(int signal_number, const std::string& message) : Error(message), signal(signal_number) {}
  const int signal;
};

}  // namespace dragoman::internal
