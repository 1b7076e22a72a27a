// The client's address behind proxies: X-Forwarded-For, as far as it can be trusted.
#pragma once

#include <string>
#include <vector>

#include "http/message.h"

namespace dragoman::internal {

// Throws an Error unless this is an address, or a network such as 10.0.0.0/8 or fd00::/8.
void check_proxy(const std::string& text);

// The address that the request came from: its peer's, or where that is one of the proxies (addresses and networks), the
// last address in X-Forwarded-For that is not one of them. Anyone may have written what stands before that.
std::string client_address(const IncomingRequest& request, const std::vector<std::string>& proxies);

}  // namespace dragoman::internal
