// Addresses of clients, as limits count them.
#pragma once

#include <string>

namespace dragoman::internal {

// What a client is counted by: its address, or of IPv6 its network of 64 bits, "2001:db8:0:1::/64", which belongs to
// one host or household. An IPv4 address in the form of IPv6 is counted as IPv4; any other text, as it is.
std::string network_of(const std::string& address);

}  // namespace dragoman::internal
