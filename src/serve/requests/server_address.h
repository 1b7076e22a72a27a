// The server's address as a client knows it, for addresses in answers.
#pragma once

#include <string>

#include "serve/route.h"

namespace dragoman::internal {

// Where the client reached this server, as far as it says so: behind a proxy that ends TLS, too. "http://HOST"; empty
// where it does not say.
std::string server_address(const ServeCall& call, bool tls);

}  // namespace dragoman::internal
