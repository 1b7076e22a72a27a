#include "http/address.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>

namespace dragoman::internal {
namespace {

std::string text_of(int family, const unsigned char* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  return inet_ntop(family, bytes, text.data(), text.size());
}

}  // namespace

std::string network_of(const std::string& address) {
  const std::string without_zone = address.substr(0, address.find('%'));
  std::array<unsigned char, 16> bytes = {};
  if (inet_pton(AF_INET6, without_zone.c_str(), bytes.data()) != 1) return address;
  constexpr std::array<unsigned char, 12> ipv4_prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(ipv4_prefix.begin(), ipv4_prefix.end(), bytes.begin()))
    return text_of(AF_INET, bytes.data() + ipv4_prefix.size());
  std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
  return text_of(AF_INET6, bytes.data()) + "/64";
}

}  // namespace dragoman::internal
