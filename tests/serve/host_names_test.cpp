#include "serve/host_names.h"

#include <gtest/gtest.h>

#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

TEST(HostNames, AddressesLocalhostAndThoseThatAreGiven) {
  const std::vector<std::string> names = {"translate.example.org"};
  for (const char* known : {"", "localhost", "LOCALHOST:5000", "127.0.0.1", "127.0.0.1:80", "10.1.2.3",
                            "[::1]:5000", "translate.example.org", "Translate.example.org:443"})
    EXPECT_TRUE(is_known_host(known, names)) << known;
  for (const char* other : {"evil.example", "evil.example:5000", "localhost.evil.example",
                            "127.0.0.1.evil.example", "example.org", "abc"})
    EXPECT_FALSE(is_known_host(other, names)) << other;
}

TEST(HostNames, OthersAreRefusedWhereOnlyThisMachineIsServed) {
  const auto status = [](const std::string& host, const std::vector<std::string>& names) {
    ServeSettings settings = test_settings();
    settings.host = host;
    settings.host_names = names;
    const TestServer server(settings);
    HttpClient client(server.server.port());
    client.send("GET /v1/models HTTP/1.1\r\nHost: evil.example:5000\r\n\r\n");
    return client.read().value_or(ClientResponse{}).status;
  };
  EXPECT_EQ(status("127.0.0.1", {}), 421);
  EXPECT_EQ(status("127.0.0.1", {"evil.example"}), 200);
  EXPECT_EQ(status("0.0.0.0", {}), 200);
}

}  // namespace
}  // namespace dragoman::internal
