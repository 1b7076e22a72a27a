#include "serve/requests/server_address.h"

namespace dragoman::internal {

std::string server_address(const ServeCall& call, bool tls) {
  const std::string host(call.request.header("host"));
  if (host.empty()) return "";
  const bool secure = tls || call.request.header("x-forwarded-proto") == "https";
  return (secure ? "https://" : "http://") + host;
}

}  // namespace dragoman::internal
