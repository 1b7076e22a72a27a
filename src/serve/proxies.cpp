#include "serve/proxies.h"

#include <algorithm>
#include <string_view>

namespace dragoman::internal {
namespace {

constexpr size_t longest_address = 45;  // of IPv6, with an IPv4 address in it

bool is_address(std::string_view text) {
  return !text.empty() && text.size() <= longest_address &&
         text.find_first_not_of("0123456789abcdefABCDEF.:") == text.npos;
}

// Takes the last item of a list off it.
std::string_view take_last(std::string_view& list) {
  const size_t comma = list.rfind(',');
  std::string_view item = comma == list.npos ? list : list.substr(comma + 1);
  list = comma == list.npos ? std::string_view() : list.substr(0, comma);
  item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
  return item.substr(0, item.find_last_not_of(' ') + 1);
}

}  // namespace

std::string client_address(const IncomingRequest& request, const std::vector<std::string>& proxies) {
  const auto is_proxy = [&](std::string_view address) {
    return std::ranges::find(proxies, address) != proxies.end();
  };
  std::string forwarded;  // the header may come several times
  for (const auto& [name, value] : request.headers) {
    if (name == "x-forwarded-for") forwarded += (forwarded.empty() ? "" : ",") + value;
  }
  std::string address = request.peer;
  for (std::string_view rest = forwarded; !rest.empty() && is_proxy(address);) {
    const std::string_view before = take_last(rest);
    if (!is_address(before)) break;
    address = before;
  }
  return address;
}

}  // namespace dragoman::internal
