#include "serve/limits/proxies.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::internal {
namespace {

std::string client_of(const std::string& peer, const std::vector<std::string>& forwarded) {
  IncomingRequest request = {.method = "GET", .path = "/", .peer = peer};
  for (const std::string& value : forwarded) request.headers.emplace_back("x-forwarded-for", value);
  return client_address(request, {"10.0.0.1", "10.0.0.2", "::1"});
}

TEST(Proxies, OnlyWhatTheyWroteIsBelieved) {
  EXPECT_EQ(client_of("9.9.9.9", {"1.2.3.4"}), "9.9.9.9");
  EXPECT_EQ(client_of("10.0.0.1", {}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"6.6.6.6, 1.2.3.4"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"6.6.6.6, 1.2.3.4 ,10.0.0.2"}), "1.2.3.4");
  EXPECT_EQ(client_of("10.0.0.1", {"6.6.6.6", "1.2.3.4, 10.0.0.2"}), "1.2.3.4");
  EXPECT_EQ(client_of("::1", {"2001:db8::7"}), "2001:db8::7");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4, someone"}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4, "}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {"1.2.3.4:5678"}), "10.0.0.1");
  EXPECT_EQ(client_of("10.0.0.1", {std::string(46, '1')}), "10.0.0.1");
}

TEST(Proxies, MayBeNetworks) {
  IncomingRequest request = {.method = "GET", .path = "/", .peer = ""};
  request.headers = {{"x-forwarded-for", "1.2.3.4, 10.9.9.9"}};
  const auto client_at = [&](const std::string& peer) {
    request.peer = peer;
    return client_address(request, {"10.0.0.0/8", "192.168.0.16/28", "fd00::/8"});
  };
  for (const char* proxy : {"10.255.0.1", "192.168.0.16", "192.168.0.31", "fdff::1", "::ffff:10.0.0.1"})
    EXPECT_EQ(client_at(proxy), "1.2.3.4") << proxy;
  for (const char* other : {"11.0.0.1", "192.168.0.15", "192.168.0.32", "fc00::1", "a00::1", "peer"})
    EXPECT_EQ(client_at(other), other);
}

TEST(Proxies, AreAddressesOrNetworks) {
  for (const char* good :
       {"10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "10.0.0.1/32", "::1", "fd00::/8", "::1/128"})
    EXPECT_NO_THROW(check_proxy(good)) << good;
  for (const char* bad : {"", "proxy", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
                          "::1/129", "10.0.0.1:80", "/8"})
    EXPECT_THROW(check_proxy(bad), Error) << bad;
}

}  // namespace
}  // namespace dragoman::internal
