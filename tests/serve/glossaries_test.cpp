// Glossaries of DeepL's clients: their entries, where they are kept, whose they are, and how they change.
#include <atomic>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "serve/deepl/glossary_entries.h"
#include "serve/deepl/glossary_store.h"
#include "serve/deepl/routes.h"
#include "serve/fake_server.h"
#include "serve/full_disk.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

std::string refused(GlossaryEntries (*read)(std::string_view), std::string_view text) {
  try {
    read(text);
  } catch (const ServeError& error) {
    return error.what();
  }
  return "";
}

TEST(GlossaryEntriesTest, TabsAndCommas) {
  const auto entries = [](const GlossaryEntries& all) { return tsv_of(all); };
  EXPECT_EQ(entries(entries_of_tsv("\xEF\xBB\xBF"
                                   "a b\tc\r\n\r\nd\t=|#")),
            "a b\tc\nd\t=|#\n");
  EXPECT_EQ(entries(entries_of_csv("a,b\r\n\"c, \"\"d\"\"\",e,en,fr\n\"f\",\"g\"\r\nh,i")),
            "a\tb\nc, \"d\"\te\nf\tg\nh\ti\n");
  for (const char* bad : {"", "a", "a\tb\tc", "a\t \n", "\tb", "a\tb\na\tc"})
    EXPECT_NE(refused(entries_of_tsv, bad), "") << bad;
  for (const char* bad : {"", "a", "a,b,c,d,e", "a,", "\"a,b", "\"a\"x,b", "a,b\na,c", "\"a\nb\",c"})
    EXPECT_NE(refused(entries_of_csv, bad), "") << bad;
  EXPECT_EQ(refused(entries_of_tsv, "a\tb\nc"), "the glossary's line 2 is not a source and a target");
}

TEST(GlossaryEntriesTest, AreBoundedInNumber) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\tx\n";
  EXPECT_EQ(entries_of_tsv(text).size(), 100'000u);
  EXPECT_NE(refused(entries_of_tsv, text + "a\tb\n").find("more than 100000 entries"), std::string::npos);
}

// What a glossary takes in memory, not only its terms.
TEST(GlossaryStoreTest, AreBoundedInMemory) {
  GlossaryEntries entries;
  for (int i = 0; i < 100'000; ++i) entries.push_back({std::to_string(i), "x"});
  GlossaryStore store;
  size_t added = 0;
  try {
    while (added < 100) {
      store.add({.name = "n", .dictionaries = {{"en", "fr", entries}}});
      ++added;
    }
  } catch (const ServeError& error) {
    EXPECT_EQ(error.status(), 456);
  }
  EXPECT_GE(added, 1u);
  EXPECT_LE(added, 8u);
  EXPECT_TRUE(store.remove(store.all().front()->id));
  EXPECT_NO_THROW(store.add({.name = "n", .dictionaries = {{"en", "fr", entries}}}));
}

TEST(GlossaryStoreTest, AFullDiskIsAnErrorAndChangesNothing) {
  const TemporaryFolder folder;
  GlossaryStore store(folder.path("glossaries"));
  const StoredGlossary small = {.name = "small", .dictionaries = {{"en", "fr", {{"cat", "chat"}}}}};
  const std::string id = store.add(small)->id;
  {
    const FullDisk disk(20);
    const auto rename = [](StoredGlossary& glossary) { glossary.name = "renamed"; };
    EXPECT_THROW(store.change(id, "", rename), dragoman::Error);
    for (size_t i = 0; i < GlossaryStore::max_glossaries; ++i)
      EXPECT_THROW(store.add(small), dragoman::Error);
  }
  EXPECT_EQ(store.find(id)->name, "small");
  EXPECT_EQ(GlossaryStore(folder.path("glossaries")).find(id)->name, "small") << "as the next start reads it";
  EXPECT_EQ(store.all().size(), 1u);
  EXPECT_NO_THROW(store.add(small)) << "their places are free again";
}

TEST(DeepLGlossaries, OfAKeyAreItsOwn) {
  FakeServer server({.api_keys = "keys"});
  server.routes = deepl_routes(server.context);
  const auto list = [&](const std::string& client) {
    server.client = client;
    return server.get("/v2/glossaries")->json().at("glossaries").size();
  };
  server.client = "alice";
  const std::string id = server
                             .post("/v2/glossaries", {{"name", "mine"},
                                                      {"source_lang", "en"},
                                                      {"target_lang", "fr"},
                                                      {"entries", "cat\tchat"},
                                                      {"entries_format", "tsv"}})
                             ->json()
                             .at("glossary_id");
  const json use = {{"text", {"a"}}, {"source_lang", "EN"}, {"target_lang", "FR"}, {"glossary_id", id}};
  EXPECT_EQ(list("bob"), 0u);
  EXPECT_EQ(server.get("/v2/glossaries/" + id)->response.status, 404);
  EXPECT_EQ(server.get("/v2/glossaries/" + id + "/entries")->response.status, 404);
  EXPECT_EQ(server.post("/v2/translate", use)->response.status, 404);
  EXPECT_EQ(server.send({.method = "DELETE", .path = "/v2/glossaries/" + id})->response.status, 404);
  EXPECT_EQ(list("alice"), 1u);
  EXPECT_EQ(server.post("/v2/translate", use)->response.status, 200);
  EXPECT_EQ(server.send({.method = "DELETE", .path = "/v2/glossaries/" + id})->response.status, 204);
}

TEST(DeepLGlossaries, OfSeveralPairsCanBeChanged) {
  FakeServer server;
  server.routes = deepl_routes(server.context);
  const auto dictionary = [](const char* from, const char* to, const char* entries) -> json {
    return {{"source_lang", from}, {"target_lang", to}, {"entries", entries}, {"entries_format", "tsv"}};
  };
  const HttpHeaders none, json_type = {{"content-type", "application/json"}};
  const auto ask = [&](const std::string& method, const std::string& path, const json& body, int status) {
    const auto answer = server.send({.method = method,
                                     .path = path,
                                     .query = {{"source_lang", "EN"}, {"target_lang", "FR"}},
                                     .headers = body.is_null() ? none : json_type,
                                     .body = body.is_null() ? "" : body.dump()});
    EXPECT_EQ(answer->response.status, status) << answer->response.body;
    return answer->json();
  };
  const json made =
      ask("POST", "/v3/glossaries",
          {{"name", "both"},
           {"dictionaries", {dictionary("EN", "FR", "cat\tchat"), dictionary("FR", "EN", "chat\tcat")}}},
          201);
  ASSERT_EQ(made["dictionaries"].size(), 2u);
  const std::string one = "/v3/glossaries/" + made.value("glossary_id", "");
  const auto entries = [&] {
    return ask("GET", one + "/entries", nullptr, 200)["dictionaries"][0]["entries"];
  };
  ask("PATCH", one,
      {{"name", "renamed"}, {"dictionaries", {dictionary("EN", "FR", "cat\tminou\ndog\tchien")}}}, 200);
  EXPECT_EQ(entries(), "cat\tminou\ndog\tchien\n");
  EXPECT_EQ(ask("PUT", one + "/dictionaries", dictionary("EN", "FR", "cat\tmatou"), 200)["entry_count"], 1);
  EXPECT_EQ(entries(), "cat\tmatou\n");
  EXPECT_EQ(ask("GET", one, nullptr, 200)["name"], "renamed");
  ask("PUT", one + "/dictionaries", dictionary("EN", "XX", "a\tb"), 400);
  EXPECT_EQ(ask("GET", "/v2/glossaries", nullptr, 200)["glossaries"].size(), 0u);
  const json use = {{"text", {"a"}},
                    {"source_lang", "EN"},
                    {"target_lang", "FR"},
                    {"glossary_ids", json::array({made["glossary_id"]})}};
  ask("POST", "/v2/translate", use, 200);
  EXPECT_EQ(server.translations.seen.back().glossary->size(), 1u);
  ask("DELETE", one + "/dictionaries", nullptr, 204);
  EXPECT_EQ(ask("GET", "/v2/glossaries", nullptr, 200)["glossaries"].size(), 1u);
  ask("GET", one + "/entries", nullptr, 404);
  ask("DELETE", one, nullptr, 204);
  ask("GET", one, nullptr, 404);
}

TEST(GlossaryStoreTest, ADictionaryIsFoundByItsOwnLanguagesFirst) {
  StoredGlossary glossary;
  for (const char* from : {"pt-BR", "pt"})
    glossary.dictionaries.push_back({.from = from, .to = "en", .entries = {}});
  EXPECT_EQ(glossary.find("PT", "EN"), &glossary.dictionaries[1]);
  EXPECT_EQ(glossary.find("pt-br", "en-US"), &glossary.dictionaries[0]);
  EXPECT_EQ(glossary.find("fr", "en"), nullptr);
}

json dictionary_of_entries(const std::string& prefix, int entries) {
  std::string lines;
  for (int i = 0; i < entries; ++i) lines += prefix + std::to_string(i) + "\tx\n";
  return {{"source_lang", "EN"}, {"target_lang", "FR"}, {"entries", lines}, {"entries_format", "tsv"}};
}

TEST(DeepLGlossaries, OfSeveralPairsAreBoundedWhereTheyGrow) {
  FakeServer server;
  server.routes = deepl_routes(server.context);
  const json first = {{"name", "n"}, {"dictionaries", json::array({dictionary_of_entries("a", 60'000)})}},
             more = {{"dictionaries", json::array({dictionary_of_entries("b", 60'000)})}};
  const std::string id = server.post("/v3/glossaries", first)->json().value("glossary_id", "");
  const auto changed = server.send({.method = "PATCH",
                                    .path = "/v3/glossaries/" + id,
                                    .headers = {{"content-type", "application/json"}},
                                    .body = more.dump()});
  EXPECT_EQ(changed->response.status, 413) << changed->response.body;
}

class DeepLJoinedGlossaries : public testing::Test {
 protected:
  explicit DeepLJoinedGlossaries(ServeSettings settings = {}) : server_(std::move(settings)) {
    server_.routes = deepl_routes(server_.context);
  }
  std::string add(const std::string& prefix, int entries) {
    json glossary = dictionary_of_entries(prefix, entries);
    glossary["name"] = "n";
    return server_.post("/v2/glossaries", glossary)->json().value("glossary_id", "");
  }
  int status_with(const std::vector<std::string>& ids) {
    server_.translations.seen.clear();
    return server_
        .post("/v2/translate",
              {{"text", {"a"}}, {"source_lang", "EN"}, {"target_lang", "FR"}, {"glossary_ids", ids}})
        ->response.status;
  }
  size_t used_entries() const {
    const auto& seen = server_.translations.seen;
    return seen.empty() || !seen.back().glossary ? 0 : seen.back().glossary->size();
  }

  FakeServer server_;
};

TEST_F(DeepLJoinedGlossaries, HaveALimitTogether) {
  const std::string a = add("a", 60'000), b = add("b", 60'000), c = add("c", 2);
  EXPECT_EQ(status_with({a}), 200);
  EXPECT_EQ(status_with({a, c}), 200);
  EXPECT_EQ(used_entries(), 60'002u);
  EXPECT_EQ(status_with({a, b}), 400);
}

// The address sanitizer sees where it reads what the other request has freed.
TEST_F(DeepLJoinedGlossaries, StayWhileAnotherRequestChangesThem) {
  constexpr int entries = 2000;
  const std::string a = add("a", entries), b = add("b", entries);
  std::atomic<bool> done = false;
  std::thread other([&] {
    const std::string dictionary = dictionary_of_entries("a", entries).dump();
    for (int i = 0; i < 30; ++i) {
      const auto changed = server_.send({.method = "PUT",
                                         .path = "/v3/glossaries/" + a + "/dictionaries",
                                         .headers = {{"content-type", "application/json"}},
                                         .body = dictionary});
      EXPECT_EQ(changed->response.status, 200) << changed->response.body;
    }
    done = true;
  });
  do {
    EXPECT_EQ(status_with({a, b}), 200);
    EXPECT_EQ(used_entries(), 2u * entries);
  } while (!done);
  other.join();
}

class DeepLGlossariesInAMinute : public DeepLJoinedGlossaries {
 protected:
  DeepLGlossariesInAMinute() : DeepLJoinedGlossaries({.limits = {.characters_per_minute = 100}}) {}
};

TEST_F(DeepLGlossariesInAMinute, CountWhereTheyAreJoined) {
  const std::string a = add("a", 10), b = add("b", 10);  // of 30 characters each
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status_with({a}), 200);
  EXPECT_EQ(status_with({a, b}), 200);
  EXPECT_EQ(status_with({a, b}), 429);
}

TEST(GlossaryStoreTest, FilesOfEarlierVersionsAreRead) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("g"));
  folder.write("g/old.json",
               R"({"name": "n", "from": "en", "to": "fr", "created": "c", "entries": [["cat", "chat"]]})");
  const GlossaryStore store(folder.path("g"));
  EXPECT_EQ(tsv_of(store.find("old")->dictionaries.front().entries), "cat\tchat\n");
}

// None is lost, in memory or on the disk, and what is read at the next start is whole.
TEST(GlossaryStoreTest, TakeTheChangesOfManyAtOnce) {
  const TemporaryFolder folder;
  GlossaryStore store(folder.path("g"));
  const GlossaryDictionary first = {"en", "fr", {{"a", "b"}}};
  const std::string id =
      store.add({.id = {}, .name = "n", .created = {}, .owner = {}, .dictionaries = {first}})->id;
  constexpr int changes = 20;
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < changes; ++i) {
        store.change(id, {}, [&](StoredGlossary& glossary) {
          glossary.dictionaries[0].glossary = nullptr;
          glossary.dictionaries[0].entries.push_back({std::to_string(client) + " " + std::to_string(i), "x"});
        });
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(store.find(id)->dictionaries[0].entries.size(), 4 * changes + 1U);
  EXPECT_EQ(GlossaryStore(folder.path("g")).find(id)->dictionaries[0].entries.size(), 4 * changes + 1U);
  EXPECT_THROW(store.change("none", {}, [](StoredGlossary&) {}), ServeError);
}

TEST(GlossaryStoreTest, AFolderKeepsThem) {
  const TemporaryFolder folder;
  std::string id, other;
  {
    GlossaryStore store(folder.path("g"));
    id = store.add({.name = "né\"e", .dictionaries = {{"en", "fr", {{"cat", "chat"}, {"a|b", "="}}}}})->id;
    other = store.add({.name = "x", .dictionaries = {{"en", "fr", {{"a", "b"}}}}})->id;
    store.add({.name = "y", .owner = "alice", .dictionaries = {{"en", "fr", {{"a", "b"}}}}});
    EXPECT_TRUE(store.remove(other));
  }
  GlossaryStore again(folder.path("g"));
  ASSERT_EQ(again.all().size(), 1u);
  EXPECT_EQ(again.all("alice").size(), 2u);
  const auto found = again.find(id);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "né\"e");
  EXPECT_EQ(tsv_of(found->dictionaries.front().entries), "cat\tchat\na|b\t=\n");
  EXPECT_EQ(found->dictionaries.front().glossary->size(), 2u);
  folder.write("g/bad.json", R"({"name": 5})");
  EXPECT_THROW(GlossaryStore(folder.path("g")), dragoman::Error);
}

}  // namespace
}  // namespace dragoman::internal
