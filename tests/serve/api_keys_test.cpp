#include "serve/api_keys.h"

#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "serve/secrets.h"
#include "serve/test_server.h"

namespace dragoman::internal {
namespace {

class ApiKeysTest : public testing::Test {
 protected:
  std::string refusal(const std::string& text) const {
    try {
      write_file(path_, {text});
      ApiKeys made(path_);
    } catch (const dragoman::Error& error) {
      return error.what();
    }
    return "";
  }

  const std::string path_ = testing::TempDir() + "api-keys";
};

TEST_F(ApiKeysTest, KnowTheirOwners) {
  const NewKey alice = new_api_key("alice"), bob = new_api_key("bob");
  EXPECT_FALSE(ApiKeys("").needed());
  write_file(path_, {"# two\n\n" + alice.line + "\n  " + bob.line + "\r\n"});
  const ApiKeys both(path_);
  EXPECT_EQ(both.owner(alice.key), "alice");
  EXPECT_EQ(both.owner(bob.key), "bob");
  std::string wrong = alice.key;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& key :
       {wrong, alice.key + "0", alice.key.substr(1), std::string(), alice.line, std::string(1000, 'a')})
    EXPECT_FALSE(both.owner(key)) << key;
}

TEST_F(ApiKeysTest, TheFileDoesNotHaveTheKey) {
  const NewKey made = new_api_key("alice"), again = new_api_key("alice");
  EXPECT_EQ(made.line.find(made.key), std::string::npos);
  EXPECT_NE(made.key, again.key);
  EXPECT_EQ(made.key.size(), 64U);
}

TEST_F(ApiKeysTest, KeysOfEarlierVersionsAreValid) {
  const std::string salt(32, 'a'), key(64, 'b'), line = "old " + salt + " " + in_hex(salted_hash(salt, key));
  const NewKey alice = new_api_key("alice");
  write_file(path_, {line + "\n" + alice.line + "\n"});
  const ApiKeys both(path_);
  EXPECT_EQ(both.owner(key), "old");
  EXPECT_EQ(both.owner(alice.key), "alice");
  EXPECT_FALSE(both.owner(std::string(64, 'a')));
}

TEST_F(ApiKeysTest, RefuseADamagedFile) {
  const std::string line = new_api_key("alice").line;
  EXPECT_NE(refusal(line + "\nbob x y\n").find(path_ + ":2: "), std::string::npos);
  EXPECT_NE(refusal(line + "\n" + line + "\n").find("names must be unique"), std::string::npos);
  EXPECT_NE(refusal("# none\n").find("has no API key"), std::string::npos);
  EXPECT_NE(refusal(line + " more\n").find(":1: "), std::string::npos);
  std::string same_salt = line;
  same_salt.replace(0, 5, "bobby");
  EXPECT_NE(refusal(line + "\n" + same_salt + "\n").find("the salt of a key above"), std::string::npos);
  EXPECT_THROW(new_api_key("two words"), UsageError);
  EXPECT_THROW(new_api_key("#alice"), UsageError);
  EXPECT_THROW(new_api_key(""), UsageError);
}

// Each API takes keys where its clients put them, and refuses in their words.
TEST_F(ApiKeysTest, OfEachApi) {
  const NewKey alice = new_api_key("alice");
  const std::string wrong = new_api_key("bob").key;
  write_file(path_, {alice.line + "\n"});
  ServeSettings settings = test_settings();
  settings.api_keys = path_;
  const TestServer server(settings);
  using nlohmann::json;
  const json libre = {{"q", "a"}, {"source", "en"}, {"target", "fr"}};
  const json deepl = {{"text", {"a"}}, {"source_lang", "EN"}, {"target_lang", "FR"}};
  const auto with = [](json body, const char* field, const std::string& key) {
    body[field] = key;
    return body;
  };
  const auto header = [](const std::string& scheme, const std::string& key) {
    return "Authorization: " + scheme + " " + key + "\r\n";
  };

  EXPECT_EQ(json::parse(server.post("/translate", with(libre, "api_key", alice.key)).body)["translatedText"],
            "A");
  EXPECT_EQ(server
                .ask("POST", "/translate", "q=a&source=en&target=fr&api_key=" + alice.key,
                     "Content-Type: application/x-www-form-urlencoded\r\n")
                .status,
            200);
  for (const auto& refused :
       {server.post("/translate", libre), server.post("/translate", with(libre, "api_key", wrong)),
        server.post("/translate", libre, header("Bearer", wrong))}) {
    EXPECT_EQ(refused.status, 403);
    EXPECT_TRUE(json::parse(refused.body).at("error").is_string()) << refused.body;
  }

  EXPECT_EQ(server.post("/v2/translate", with(deepl, "auth_key", alice.key)).status, 200);
  EXPECT_EQ(server.post("/v2/translate", deepl, header("DeepL-Auth-Key", alice.key)).status, 200);
  for (const auto& refused :
       {server.post("/v2/translate", deepl), server.post("/v2/translate", with(deepl, "auth_key", wrong)),
        server.post("/v2/translate", deepl, header("DeepL-Auth-Key", wrong))}) {
    EXPECT_EQ(refused.status, 403);
    EXPECT_TRUE(json::parse(refused.body).at("message").is_string()) << refused.body;
  }

  const auto refused = server.post("/v1/translate", {{"text", "a"}, {"api_key", alice.key}});
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(json::parse(refused.body)["error"]["kind"], "access");
  EXPECT_EQ(refused.header("www-authenticate"), "Bearer");
}

// Of all paths: pages, what monitors ask for, and files whose addresses nobody can guess.
TEST_F(ApiKeysTest, AreNotNeededForThese) {
  write_file(path_, {new_api_key("alice").line + "\n"});
  ServeSettings settings = test_settings();
  settings.api_keys = path_;
  const TestServer server(settings);
  const nlohmann::json paths = nlohmann::json::parse(server.get("/openapi.json").body).at("paths");
  std::set<std::string> open;
  for (const auto& [path, methods] : paths.items())
    for (const auto& [method, operation] : methods.items())
      if (operation.at("security").empty()) open.insert(method + " " + path);
  EXPECT_EQ(open, (std::set<std::string>{"get /", "get /download_file/{name}", "get /favicon.ico",
                                         "get /frontend/settings", "get /health", "get /inspect",
                                         "get /languages", "get /livez", "get /metrics", "get /openapi.json",
                                         "get /readyz", "get /training",
                                         "get /v3/translation_memories/exports/{name}", "get /web/{name}"}));
}

}  // namespace
}  // namespace dragoman::internal
