// What the program says when it fails.
#pragma once

namespace dragoman::internal {

// To be called where an exception was caught: writes one sentence about it to standard error and returns the exit
// code. Where there is no memory left it needs none.
int report_failure() noexcept;

// Has a thread that runs out of memory where nothing can be caught end the program like any other failure.
void report_uncaught_failures();

}  // namespace dragoman::internal
