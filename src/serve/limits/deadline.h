// Deadlines of requests.
#pragma once

#include <chrono>
#include <cstdint>

#include "http/message.h"

namespace dragoman::internal {

// As the header X-Timeout-Ms: 1500, or Prefer: wait=2 (seconds, RFC 7240) says, but at most `seconds` after the request
// came. Throws a ServeError where X-Timeout-Ms is not a number.
std::chrono::steady_clock::time_point deadline_of(const IncomingRequest& request, int64_t seconds);

}  // namespace dragoman::internal
