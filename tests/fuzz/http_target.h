// The target of what clients of the server send.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

// The first two bytes say how the others are cut into reads. Accepted requests must not depend on that, and must be
// the same to a second parser.
std::string read_http_requests(std::string_view bytes);
std::vector<std::string> http_request_seeds();

}  // namespace dragoman::internal
