#include "serve/limits/proxies.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <arpa/inet.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/parse_number.h"

namespace dragoman::internal {
namespace {

struct Network {
  std::array<unsigned char, 16> address = {};
  int bytes = 0;  // of the address: 4 or 16
  int bits = 0;   // that its members have in common
};

// An IPv4 address that is written as one of IPv6 is one of IPv4.
std::optional<Network> address_in(std::string_view text) {
  constexpr std::string_view mapped = "::ffff:";
  if (text.starts_with(mapped) && text.find('.') != text.npos) text.remove_prefix(mapped.size());
  const std::string plain(text.substr(0, text.find('%')));  // without a scope
  Network found;
  if (inet_pton(AF_INET, plain.c_str(), found.address.data()) == 1) {
    found.bytes = 4;
  } else if (inet_pton(AF_INET6, plain.c_str(), found.address.data()) == 1) {
    found.bytes = 16;
  } else {
    return {};
  }
  found.bits = 8 * found.bytes;
  return found;
}

std::optional<Network> network_in(std::string_view text) {
  const size_t slash = text.find('/');
  std::optional<Network> found = address_in(text.substr(0, slash));
  if (!found || slash == text.npos) return found;
  const auto bits = parse_number<int>(text.substr(slash + 1));
  if (!bits || *bits < 0 || *bits > found->bits) return {};
  found->bits = *bits;
  return found;
}

bool covers(const Network& network, const Network& address) {
  if (network.bytes != address.bytes) return false;
  const int whole = network.bits / 8, rest = network.bits % 8;
  if (!std::equal(network.address.begin(), network.address.begin() + whole, address.address.begin()))
    return false;
  return rest == 0 || (network.address[whole] ^ address.address[whole]) >> (8 - rest) == 0;
}

// Takes the last item of a list off it.
std::string_view take_last(std::string_view& list) {
  const size_t comma = list.rfind(',');
  const std::string_view item = comma == list.npos ? list : list.substr(comma + 1);
  list = comma == list.npos ? std::string_view() : list.substr(0, comma);
  return stripped(item, " ");
}

}  // namespace

void check_proxy(const std::string& text) {
  if (!network_in(text))
    throw Error("{} is neither an address nor a network: write 10.0.0.7, 10.0.0.0/8 or fd00::/8", text);
}

std::string client_address(const IncomingRequest& request, const std::vector<std::string>& proxies) {
  const auto is_proxy = [&](std::string_view text) {
    const std::optional<Network> address = address_in(text);
    return address && std::ranges::any_of(proxies, [&](const std::string& proxy) {
             const std::optional<Network> network = network_in(proxy);
             return network && covers(*network, *address);
           });
  };
  std::string forwarded;  // the header may come several times
  for (const auto& [name, value] : request.headers) {
    if (name == "x-forwarded-for") forwarded += (forwarded.empty() ? "" : ",") + value;
  }
  std::string address = request.peer;
  for (std::string_view rest = forwarded; !rest.empty() && is_proxy(address);) {
    const std::string_view before = take_last(rest);
    if (!address_in(before)) break;
    address = before;
  }
  return address;
}

}  // namespace dragoman::internal
