// TLS: the server's certificate, and connections through it. TLS 1.2 and newer.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "http/beast/transport.h"

namespace dragoman::internal {

using TlsContext = std::shared_ptr<asio::ssl::context>;

// An Error that names the file where one cannot be used, or where they do not belong together.
TlsContext tls_context(const std::string& certificate, const std::string& key);

std::unique_ptr<Transport> tls_transport(tcp::socket socket, const TlsContext& context);

}  // namespace dragoman::internal
