// Reports the program's failures.
#pragma once

namespace dragoman::internal {

// To be called where an exception was caught: writes one sentence about it to standard error and returns the exit
// code. Where there is no memory left it needs none.
int report_failure() noexcept;

// Makes running out of memory in a thread without a handler end the program like any other failure.
void report_uncaught_failures();

}  // namespace dragoman::internal
