#include "serve/host_names.h"

#include <algorithm>

#include "base/ascii.h"

namespace dragoman::internal {

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool is_known_host(std::string_view host, const std::vector<std::string>& names) {
  if (host.starts_with('[')) return true;  // an address of IPv6
  const std::string_view name = host.substr(0, host.find(':'));
  const bool is_address = name.find_first_not_of("0123456789.") == name.npos;
  return is_address || same_ignoring_case(name, "localhost") ||
         std::ranges::any_of(names, [&](const std::string& own) { return same_ignoring_case(name, own); });
}

}  // namespace dragoman::internal
