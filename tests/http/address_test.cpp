#include "http/address.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

TEST(HttpAddress, IPv6IsCountedByNetwork) {
  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8:0:1:2:3:4:5"), "2001:db8:0:1::/64");
  EXPECT_EQ(network_of("2001:DB8:0:1::9"), "2001:db8:0:1::/64");
  EXPECT_EQ(network_of("2001:db8:0:2::9"), "2001:db8:0:2::/64");
  EXPECT_EQ(network_of("fe80::1%eth0"), "fe80::/64");
  EXPECT_EQ(network_of("::1"), "::/64");
  EXPECT_EQ(network_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("no address"), "no address");
  EXPECT_EQ(network_of(""), "");
}

}  // namespace
}  // namespace dragoman::internal
