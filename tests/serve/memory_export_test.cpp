// A memory as TMX, which is sent while it is read.
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "memory/builder.h"
#include "serve/test_server.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

// More than the server, and the system's buffers, keep for a client that does not read.
TEST(MemoryExportTest, ALargeOneWaitsForItsClient) {
  const TemporaryFolder folder;
  MemoryBuilder builder(folder.path("memory"), "en", "fr");
  const std::string target(64 << 10, 'x');
  for (int i = 0; i < 500; ++i) {
    const std::string source = "segment " + std::to_string(i);
    builder.add({source, target});
  }
  builder.finish();
  ServeSettings settings = test_settings();
  settings.memories = {"desk=" + folder.path("memory")};
  const TestServer server(settings);
  HttpClient client(server.server.port());
  client.request("GET", "/v1/memories/desk/export.tmx");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto answer = client.read();
  ASSERT_TRUE(answer) << "it was cut";
  EXPECT_TRUE(answer->body.ends_with("</tmx>\n"));
}

}  // namespace
}  // namespace dragoman::internal
