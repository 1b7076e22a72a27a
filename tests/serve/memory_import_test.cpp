// What an imported file of segments may cost.
#include <gtest/gtest.h>

#include "memory/builder.h"
#include "serve/fake_server.h"
#include "serve/test_server.h"
#include "serve/v1/routes.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

TEST(MemoryImportTest, CountsInItsClientsMinuteAndIsBounded) {
  const TemporaryFolder folder;
  MemoryBuilder builder(folder.path("memory"), "en", "fr");
  builder.add({"The cat sleeps.", "Le chat dort."});
  builder.finish();
  ServeSettings settings = test_settings();
  settings.memories = {"desk=" + folder.path("memory")};
  settings.limits.characters_per_minute = 50;
  FakeServer server(settings);
  server.routes = v1_routes(server.context);
  const auto import = [&](const std::string& bytes) {
    return server.post_file("/v1/memories/desk/import", {}, "mine.tsv", bytes)->response.status;
  };
  const std::string line = "a cat sleeps\tun chat dort\n";
  EXPECT_EQ(import(line), 200);
  EXPECT_EQ(import(line + line + line), 429);
  std::string many;
  for (int i = 0; i < 500'001; ++i) many += "a\tb\n";
  EXPECT_EQ(import(many), 413);
}

}  // namespace
}  // namespace dragoman::internal
