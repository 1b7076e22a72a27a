// What clients may add to a memory, one by one or as a file, and what it may cost.
#include <initializer_list>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "memory/builder.h"
#include "serve/fake_server.h"
#include "serve/test_server.h"
#include "serve/v1/routes.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class MemoryImportTest : public testing::Test {
 protected:
  explicit MemoryImportTest(const ServeLimits& limits = {}, const std::vector<std::string>& writers = {})
      : server_(settings(folder_, limits, writers)) {
    server_.routes = v1_routes(server_.context);
  }
  void ask_as(const std::string& client) { server_.client = client; }
  int status_of(const std::string& bytes) { return import(bytes)->response.status; }
  std::shared_ptr<FakeServer::Answer> import(const std::string& bytes) {
    return server_.post_file("/v1/memories/desk/import", {}, "mine.tsv", bytes);
  }
  int status_of_segments(const std::vector<std::pair<std::string, std::string>>& segments) {
    json list = json::array();
    for (const auto& [source, target] : segments) list.push_back({{"source", source}, {"target", target}});
    return server_.post("/v1/memories/desk/segments", {{"segments", list}})->response.status;
  }

 private:
  static ServeSettings settings(const TemporaryFolder& folder, const ServeLimits& limits,
                                const std::vector<std::string>& writers) {
    MemoryBuilder builder(folder.path("memory"), "en", "fr");
    builder.add({"The cat sleeps.", "Le chat dort."});
    builder.finish();
    ServeSettings settings = test_settings();
    settings.memories = {"desk=" + folder.path("memory")};
    settings.memory_writers = writers;
    settings.limits = limits;
    return settings;
  }

  const TemporaryFolder folder_;
  FakeServer server_;
};

class MemoryImportInAMinuteTest : public MemoryImportTest {
 protected:
  MemoryImportInAMinuteTest() : MemoryImportTest({.characters_per_minute = 50}) {}
};

TEST_F(MemoryImportInAMinuteTest, CountsItsCharactersAndIsBounded) {
  const std::string line = "a cat sleeps\tun chat dort\n";
  EXPECT_EQ(status_of(line), 200);
  EXPECT_EQ(status_of(line + line + line), 429);
  std::string many;
  for (int i = 0; i < 500'001; ++i) many += "a\tb\n";
  EXPECT_EQ(status_of(many), 413);
}

// "a\tb\n" in formats that would be decompressed, whatever the file's name is.
TEST_F(MemoryImportTest, RefusesWhatIsCompressed) {
  const auto refused = [&](std::initializer_list<unsigned char> bytes) {
    const auto answer = import(std::string(bytes.begin(), bytes.end()));
    EXPECT_EQ(answer->response.status, 400) << answer->response.body;
    return answer->json().dump().find("is compressed") != std::string::npos;
  };
  EXPECT_TRUE(refused({0x1f, 0x8b, 8,    0,    0,    0,    0,    0,    2, 3, 0x4b, 0xe4,
                       0x4c, 0xe2, 0x02, 0x00, 0xce, 0x94, 0x11, 0x1a, 4, 0, 0,    0}));
  EXPECT_TRUE(refused({0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 0x21, 0, 0, 'a', '\t', 'b', '\n'}));
  for (const unsigned char first : {0x50, 0x5f})  // what Zstandard skips
    EXPECT_TRUE(refused({first, 0x2a, 0x4d, 0x18, 1,    0, 0, 0,   ' ',  0x28, 0xb5,
                         0x2f,  0xfd, 0,    0x58, 0x21, 0, 0, 'a', '\t', 'b',  '\n'}));
  EXPECT_EQ(status_of("P*\tb\n"), 200);
  EXPECT_EQ(status_of(""), 200);
}

TEST_F(MemoryImportTest, CountsWhatIsTooLong) {
  const std::string most(64 << 10, 'x');
  const json counts = import("a\tb\n" + most + "x\ta\na\t" + most + "x\n" + most + "\tb\n")->json();
  EXPECT_EQ(counts["added"], 2);
  EXPECT_EQ(counts["too_long"], 2);
  EXPECT_EQ(counts["read"], 4);
}

class MemoryImportByWritersTest : public MemoryImportTest {
 protected:
  MemoryImportByWritersTest() : MemoryImportTest({}, {"alice"}) {}
};

TEST_F(MemoryImportByWritersTest, IsRefusedToOthers) {
  ask_as("bob");
  EXPECT_EQ(status_of("a cat\tun chat\n"), 403);
  ask_as("alice");
  EXPECT_EQ(status_of("a cat\tun chat\n"), 200);
}

class AddedSegmentsTest : public MemoryImportTest {
 protected:
  AddedSegmentsTest() : MemoryImportTest({.characters = 40, .texts = 3}) {}
};

TEST_F(AddedSegmentsTest, CountAsTextsWithTheCharactersOfBothSides) {
  EXPECT_EQ(status_of_segments({{"a", "b"}, {"c", "d"}, {"e", "f"}}), 200);
  EXPECT_EQ(status_of_segments({{"a", "b"}, {"c", "d"}, {"e", "f"}, {"g", "h"}}), 413);
  EXPECT_EQ(status_of_segments({{std::string(10, 'a'), std::string(30, 'b')}}), 200);
  EXPECT_EQ(status_of_segments({{std::string(10, 'a'), std::string(31, 'b')}}), 413);
}

}  // namespace
}  // namespace dragoman::internal
