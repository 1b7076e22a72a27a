// Connections without TLS.
#pragma once

#include <memory>

#include "http/beast/transport.h"

namespace dragoman::internal {

std::unique_ptr<Transport> plain_transport(tcp::socket socket);

}  // namespace dragoman::internal
