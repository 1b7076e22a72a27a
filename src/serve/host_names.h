// Under which names a server that listens to this machine alone may be asked: a page of another site that has its own
// name lead to 127.0.0.1 must not use it (DNS rebinding).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

bool is_loopback(std::string_view host);  // a server's address: 127.0.0.1, ::1 or localhost

// Whether a request's Host is an address, localhost, or one of these names, with or without a port.
bool is_known_host(std::string_view host, const std::vector<std::string>& names);

}  // namespace dragoman::internal
