#include "serve/proxies.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(client_of("10.0.0.1", {std::string(46, '1')}), "10.0.0.1");
}

}  // namespace
}  // namespace dragoman::internal
