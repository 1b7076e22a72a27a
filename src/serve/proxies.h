// Whose request it is where proxies stand between: X-Forwarded-For, as far as it can be believed.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace dragoman::internal {

// The address that the request came from: its peer's, or where that is one of the proxies, the last address in
// X-Forwarded-For that is not one of them. Anyone may have written what stands before that.
std::string client_address(const IncomingRequest& request, const std::vector<std::string>& proxies);

}  // namespace dragoman::internal
