// Requests to try a server with.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"

namespace dragoman::internal {

struct RefusedSample {
  std::string bytes;
  int status = 400;
};

// By kind: what proxies and servers have read differently, and what Beast 1.81 lets through.
std::vector<RefusedSample> refused_samples();

// Valid, with or without a body, of known length or in chunks.
std::string random_request(Random& random);

// With a few bytes changed, mostly such as matter to where a request ends.
std::string damaged_request(std::string bytes, Random& random);

}  // namespace dragoman::internal
