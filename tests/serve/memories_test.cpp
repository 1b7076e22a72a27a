// Translation memories in the server: what lines are taken from them, what clients of each API add and find.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "memory/builder.h"
#include "serve/api_keys.h"
#include "serve/deepl/routes.h"
#include "serve/desk/routes.h"
#include "serve/fake_server.h"
#include "serve/memories/store.h"
#include "serve/open_translations.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

std::string memory_in(const TemporaryFolder& folder, const std::string& name, const std::string& to = "fr") {
  MemoryBuilder builder(folder.path(name), "en", to);
  builder.add({"The cat sleeps.", "Le chat dort.", "a.tmx", 1'700'000'000});
  builder.add({"The dog sleeps in the garden.", "Le chien dort au jardin."});
  builder.finish();
  return folder.path(name);
}

// A server with one memory from English to French, "desk".
class DeskTest : public testing::Test {
 protected:
  static ServeSettings settings(const TemporaryFolder& folder) {
    ServeSettings settings = test_settings();
    settings.memories = {"desk=" + memory_in(folder, "memory")};
    return settings;
  }
  DeskTest() {
    for (auto some :
         {v1_routes(server_.context), desk_routes(server_.context), deepl_routes(server_.context)})
      std::ranges::move(some, std::back_inserter(server_.routes));
  }

  json get(const std::string& path, std::vector<std::pair<std::string, std::string>> query,
           int status = 200) {
    const auto answer = server_.send({.method = "GET", .path = path, .query = std::move(query)});
    EXPECT_EQ(answer->response.status, status) << answer->response.body;
    return answer->json();
  }
  json post(const std::string& path, const json& body, int status = 200) {
    const auto answer = server_.post(path, body);
    std::promise<void> written;  // by the thread that answers with what memories have
    server_.workers.run([&] { written.set_value(); });
    written.get_future().wait();
    EXPECT_EQ(answer->response.status, status) << answer->response.body;
    return answer->json();
  }
  // As another process finds it, which the server's does not hinder.
  std::string target_on_disk(const std::string& source) const {
    const TranslationMemory memory(folder_.path("memory"), MemoryAccess::read);
    const auto match = memory.exact(source, {});
    return match ? match->segment.target : "";
  }

  const TemporaryFolder folder_;
  FakeServer server_{settings(folder_)};
};

using MemoryStoreTest = testing::Test;

TEST(MemoryStoreTest, NamesAndLanguages) {
  const TemporaryFolder folder;
  const MemoryStore store({memory_in(folder, "one") + "/", "two=" + memory_in(folder, "other", "pt_BR")});
  EXPECT_EQ(store.named("one")->memory->to(), "fr");
  EXPECT_TRUE(store.named("two")->has_pair("EN-US", "pt_BR"));
  EXPECT_FALSE(store.named("two")->has_pair("pt", "en"));
  EXPECT_EQ(of_pair(store.all(), "en", "FR").size(), 1u);
  EXPECT_THROW(store.named("three"), ServeError);
}

TEST(MemoryStoreTest, RefusesWhatItCannotHold) {
  const TemporaryFolder folder;
  const std::string one = memory_in(folder, "one");
  EXPECT_THROW(MemoryStore({one, "one=" + memory_in(folder, "two")}), dragoman::Error);
  EXPECT_THROW(MemoryStore({"=" + one}), dragoman::Error);
  const MemoryStore store({one});
  try {
    const MemoryStore another({one});
    ADD_FAILURE() << "two processes would add";
  } catch (const dragoman::Error& error) {
    EXPECT_NE(std::string(error.what()).find("another process adds to"), std::string::npos);
  }
}

TEST(MemoryStoreTest, TheMostSimilarOfSeveral) {
  const TemporaryFolder folder;
  const MemoryStore store({memory_in(folder, "one"), memory_in(folder, "two")});
  store.named("two")->memory->add(std::vector<MemorySegment>{{"The dog sleeps.", "Le chien dort."}});
  const auto matches = look_up(store.all(), "The dog sleeps.", {});
  ASSERT_FALSE(matches.empty());
  EXPECT_EQ(matches.front().segment.target, "Le chien dort.");
  EXPECT_EQ(std::ranges::count(matches, std::string("The cat sleeps."),
                               [](const MemoryMatch& match) { return match.segment.source; }),
            1);
  EXPECT_FALSE(translation_in(store.all(), "The cat sleeps"));
  EXPECT_TRUE(translation_in(store.all(), "The cat sleeps", 0.7));
}

// --- Translations ------------------------------------------------------------------------------------

TEST_F(TranslationsTest, OtherLinesAreTranslatedWithSimilarSegmentsInView) {
  const TemporaryFolder folder;
  const std::string path = memory_in(folder, "memory"), text = "The dog sleeps in a garden.";
  const dragoman::Memory memory(path);
  dragoman::Options options = short_ones;
  options.insert(options.end(), {{"split-sentences", "en"}, {"replace-unknown", true}});
  const dragoman::Translation wanted =
      alone(one_).submit({.text = text, .options = options, .memory = &memory}).get();
  ASSERT_EQ(wanted.memory_segments.size(), 1u);

  const auto translations = open({"en-fr=" + one_.path});
  const MemoryStore store({path});
  const TextResult result = translated(*translations, {.text = text + "\nThe cat sleeps.",
                                                       .from = "en",
                                                       .to = "fr",
                                                       .options = short_ones,
                                                       .memories = store.all()});
  EXPECT_EQ(result.text, wanted.text() + "\nLe chat dort.");
  ASSERT_EQ(result.memory.size(), 2u);
  EXPECT_EQ(result.memory[0].target, "Le chien dort au jardin.");
  EXPECT_FALSE(result.memory[0].exact);
  EXPECT_TRUE(result.memory[1].exact);
}

TEST_F(TranslationsTest, ALineThatAMemoryHasIsNotTranslatedAgain) {
  const TemporaryFolder folder;
  const MemoryStore store({memory_in(folder, "memory")});
  const auto translations = open({"en-fr=" + one_.path, "fr-en=" + other_.path});
  const auto translate = [&](TextWork work) {
    work.options = short_ones;
    work.options.emplace_back("memory-segments", 0);
    return translated(*translations, std::move(work));
  };
  const std::string text = "A dog barks.\r\nThe cat  sleeps.\n\nThe cats sleep.";
  const TextResult plain = translate({.text = text, .from = "en", .to = "fr"});
  const TextResult result = translate({.text = text, .from = "en", .to = "fr", .memories = store.all()});
  EXPECT_EQ(result.text, plain.lines[0].text() + "\r\nLe chat dort.\n" + plain.lines[2].text() + "\n" +
                             plain.lines[3].text());
  ASSERT_EQ(result.memory.size(), 1u);
  EXPECT_TRUE(result.memory.front().exact);
  EXPECT_EQ(result.memory.front().source, "The cat sleeps.");
  const TextResult alone = translate(
      {.text = "The cat sleeps.", .from = "en", .to = "fr", .alternatives = 2, .memories = store.all()});
  EXPECT_EQ(alone.text, "Le chat dort.");
  EXPECT_TRUE(translate({.text = "The cat sleeps.", .from = "fr", .to = "en", .memories = store.all()})
                  .memory.empty());
  EXPECT_TRUE(
      translate({.text = "The cat sleeps.", .from = "en", .to = "fr", .prefix = "a", .memories = store.all()})
          .memory.empty());
  EXPECT_EQ(translate({.text = "The cat sleeps",
                       .from = "en",
                       .to = "fr",
                       .memories = store.all(),
                       .memory_at_least = 0.7})
                .text,
            "Le chat dort.");
}

TEST_F(TranslationsTest, ADocumentSaysWhatAMemoryHas) {
  const TemporaryFolder folder;
  const MemoryStore store({memory_in(folder, "memory")});
  const auto translations = open({"en-fr=" + one_.path, "fr-en=" + other_.path});
  const auto translate = [&](const std::string& from, const std::string& to) {
    return translated(*translations, {.text = "<xliff version=\"1.2\"><file source-language=\"" + from +
                                              "\"><trans-unit><source>The cat sleeps.</source></trans-unit>"
                                              "</file></xliff>",
                                      .format = "xliff",
                                      .from = from,
                                      .to = to,
                                      .options = short_ones,
                                      .memories = store.all()})
        .text;
  };
  EXPECT_NE(translate("en", "fr").find("state-qualifier=\"exact-match\">Le chat dort."), std::string::npos);
  EXPECT_EQ(translate("fr", "en").find("state-qualifier"), std::string::npos) << "of another pair";
}

// --- Dragoman's API ----------------------------------------------------------------------------------

TEST_F(DeskTest, WhatIsConfirmedIsFoundAndOnTheDisk) {
  json list = get("/v1/memories", {})["memories"];
  EXPECT_EQ(list[0]["name"], "desk");
  EXPECT_EQ(list[0]["segments"], 2);
  EXPECT_EQ(list[0]["writable"], true);
  const json segment = {{"source", " Open the file"}, {"target", "Ouvrez le fichier"}};
  EXPECT_EQ(post("/v1/memories/desk/segments", {{"segments", {segment}}})["added"], 1);
  EXPECT_EQ(target_on_disk("Open the file"), "Ouvrez le fichier");
  const json found =
      post("/v1/memories/desk/look-up", {{"text", "open the file"}, {"match-case", false}})["segments"];
  EXPECT_EQ(found[0], (json{{"source", "Open the file"},
                            {"target", "Ouvrez le fichier"},
                            {"similarity", 1.0},
                            {"exact", true}}));
  post("/v1/memories/desk/segments", {{"segments", {{{"source", "Open the file"}, {"target", ""}}}}});
  EXPECT_EQ(target_on_disk("Open the file"), "");
  post("/v1/memories/desk/segments", {{"segments", {{{"source", " "}, {"target", "a"}}}}}, 400);
  post("/v1/memories/other/segments", {{"segments", {segment}}}, 404);
}

TEST_F(DeskTest, ARequestChoosesItsMemories) {
  EXPECT_TRUE(post("/v1/translate", {{"text", "a"}, {"from", "en"}, {"to", "fr"}}).contains("memory"));
  EXPECT_EQ(server_.translations.seen.back().memories.size(), 1u);
  const auto with = [&](const json& memory, int status) {
    return post("/v1/translate", {{"text", "a"}, {"from", "en"}, {"to", "fr"}, {"memory", memory}}, status);
  };
  EXPECT_FALSE(with(false, 200).contains("memory"));
  EXPECT_TRUE(server_.translations.seen.back().memories.empty());
  with("desk", 200);
  EXPECT_EQ(server_.translations.seen.back().memories.size(), 1u);
  with("other", 404);
  const json refused = post("/v1/translate", {{"text", "a"}, {"to", "en"}, {"memory", "desk"}}, 400);
  EXPECT_NE(refused.dump().find("is from en to fr"), std::string::npos);
  post("/v1/translate", {{"text", "a"}, {"from", "fr"}, {"to", "en"}, {"memory", "desk"}}, 400);
  post("/v1/translate", {{"text", "a"}, {"from", "auto"}, {"to", "fr"}, {"memory", "desk"}});
}

TEST_F(DeskTest, FilesOfSegmentsAreAddedAsAWhole) {
  const auto import = [&](const std::string& name, const std::string& bytes) {
    return server_.post_file("/v1/memories/desk/import", {}, name, bytes);
  };
  const auto taken = import("mine.tsv", "a cat\tun chat\n\tx\na bird\tun oiseau\n");
  EXPECT_EQ(taken->response.status, 200) << taken->response.body;
  EXPECT_EQ(taken->json()["added"], 2);
  EXPECT_EQ(taken->json()["empty"], 1);
  EXPECT_EQ(target_on_disk("a bird"), "un oiseau");
  const auto damaged = import(
      "bad.tmx",
      "<tmx version=\"1.4\"><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>a dog</seg></tuv>"
      "<tuv xml:lang=\"fr\"><seg>un chien</seg></tuv></tu><tu>");
  EXPECT_EQ(damaged->response.status, 400);
  EXPECT_TRUE(damaged->json()["error"]["message"].get<std::string>().starts_with("bad.tmx"))
      << damaged->response.body;
  EXPECT_EQ(target_on_disk("a dog"), "");
  EXPECT_EQ(import("mine.tmx.gz", "x")->response.status, 400);
  EXPECT_EQ(server_.post_file("/v1/memories/desk/import", {{"file", "x"}}, "", "")->response.status, 400);
}

TEST(DeskServerTest, TheMemoryAsTmxIsOneRequestAway) {
  const TemporaryFolder folder;
  ServeSettings settings = test_settings();
  settings.memories = {"de\"sk=" + memory_in(folder, "memory")};
  const TestServer server(settings);
  const ClientResponse answer = server.get("/v1/memories/de%22sk/export.tmx");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-disposition"), "attachment; filename=\"de_sk.tmx\"");
  EXPECT_NE(answer.body.find("<seg>Le chat dort.</seg>"), std::string::npos);
  EXPECT_TRUE(answer.body.ends_with("</tmx>\n"));
  EXPECT_EQ(server.get("/v1/memories/other/export.tmx").status, 404);
}

TEST(DeskServerTest, WhoMayAdd) {
  const TemporaryFolder folder;
  ServeSettings settings = test_settings();
  settings.memories = {"desk=" + memory_in(folder, "memory")};
  const NewKey alice = new_api_key("alice"), bob = new_api_key("bob");
  settings.api_keys = folder.write("keys", alice.line + "\n" + bob.line + "\n");
  settings.memory_writers = {"alice"};
  const TestServer server(settings);
  const json body = {{"segments", {{{"source", "a dog"}, {"target", "un chien"}}}}};
  const auto status = [&](const std::string& key, const std::string& more = "") {
    return server.post("/v1/memories/desk/segments", body, "Authorization: Bearer " + key + "\r\n" + more)
        .status;
  };
  EXPECT_EQ(status(bob.key), 403);
  EXPECT_EQ(status("nobody"), 401);
  EXPECT_EQ(status(alice.key, "Sec-Fetch-Site: cross-site\r\nOrigin: https://a.example\r\n"), 403);
  EXPECT_EQ(status(alice.key, "Sec-Fetch-Site: same-origin\r\n"), 200);
  const auto set = [&](const std::string& key) {
    return server.get("/set?seg=a+cat&tra=un+chat&langpair=en|fr&key=" + key).status;
  };
  EXPECT_EQ(set(bob.key), 403);
  EXPECT_EQ(set(alice.key), 200);
  const ClientResponse found = server.get("/get?q=a+cat&mt=0&langpair=en|fr&key=" + bob.key);
  EXPECT_EQ(json::parse(found.body)["matches"][0]["created-by"], "alice");
}

// --- MyMemory ----------------------------------------------------------------------------------------

TEST_F(DeskTest, MyMemoryHasMatchesAndTheMachine) {
  const json answer = get("/get", {{"q", "The cat sleeps."}, {"langpair", "en_US|FR"}});
  EXPECT_EQ(answer["responseData"]["translatedText"], "Le chat dort.");
  EXPECT_EQ(answer["responseStatus"], 200);
  const json matches = answer["matches"];
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0]["match"], 1.0);
  EXPECT_EQ(matches[0]["created-by"], "a.tmx");
  EXPECT_EQ(matches[0]["last-update-date"], "2023-11-14 22:13:20");
  EXPECT_EQ(matches[1]["created-by"], "MT!");
  EXPECT_EQ(matches[1]["translation"], "fr(The cat sleeps.)");
  EXPECT_EQ(get("/api/get", {{"q", "The cat sleeps."}, {"langpair", "en|fr"}, {"mt", "0"}})["matches"].size(),
            1u);
  // A pair without a memory, and one that is not served at all.
  EXPECT_EQ(get("/get", {{"q", "a"}, {"langpair", "fr|en"}})["responseData"]["translatedText"], "en(a)");
  EXPECT_EQ(get("/get", {{"q", "a"}, {"langpair", "it|fi"}})["responseData"]["translatedText"], "");
  const json refused = get("/get", {{"q", "a"}, {"langpair", "en"}}, 400);
  EXPECT_EQ(refused["responseStatus"], 400);
  EXPECT_EQ(refused["matches"], json::array());
  get("/get", {{"q", ""}, {"langpair", "en|fr"}}, 400);
}

TEST_F(DeskTest, MyMemoryLearns) {
  EXPECT_EQ(get("/set", {{"seg", "a cat"}, {"tra", "un chat"}, {"langpair", "en|fr"}})["responseStatus"],
            200);
  EXPECT_EQ(target_on_disk("a cat"), "un chat");
  get("/set", {{"seg", "a cat"}, {"tra", "ein Kater"}, {"langpair", "en|de"}}, 404);
  get("/set", {{"seg", "a cat"}, {"langpair", "en|fr"}}, 400);
}

// --- tmserver ----------------------------------------------------------------------------------------

TEST_F(DeskTest, UnitsAreLookedUpByPathOrQuery) {
  const json units = get("/tmserver/en/fr/unit/The cat sleeps.", {});
  ASSERT_EQ(units.size(), 1u);
  EXPECT_EQ(units[0]["target"], "Le chat dort.");
  EXPECT_EQ(units[0]["quality"], 100.0);
  EXPECT_EQ(get("/api/v1/en/fr/unit/", {{"source", "The cat sleeps now."}}).size(), 1u);
  EXPECT_EQ(get("/api/v1/en/fr/unit/", {{"source", "The cat sleeps now."}, {"min_similarity", "90"}}).size(),
            0u);
  EXPECT_EQ(
      get("/tmserver/en/fr/unit/The cat sleeps.", {{"min_similarity", "0"}, {"max_candidates", "1"}}).size(),
      1u);
  EXPECT_EQ(get("/tmserver/en/de/unit/The cat sleeps.", {}).size(), 0u);
  get("/tmserver/en/fr/unit/", {}, 404);
  EXPECT_EQ(get("/tmserver/languages/", {})["targetLanguages"], json::array({"fr"}));
}

TEST_F(DeskTest, UnitsAreAdded) {
  // A text in a path may have slashes.
  post("/tmserver/en/fr/unit/and/or", {{"source", "and/or"}, {"target", "et/ou"}});
  EXPECT_EQ(get("/tmserver/en/fr/unit/and/or", {})[0]["target"], "et/ou");
  EXPECT_EQ(target_on_disk("and/or"), "et/ou");
  post("/tmserver/en/fr/unit/x", {{"source", "x"}}, 400);
  post("/tmserver/en/de/unit/x", {{"source", "x"}, {"target", "y"}}, 404);
}

// --- DeepL -------------------------------------------------------------------------------------------

TEST_F(DeskTest, DeepLListsMemoriesAndTheirSegments) {
  const json all = get("/v3/translation_memories", {});
  EXPECT_EQ(all["translation_memories"][0]["translation_memory_id"], "desk");
  EXPECT_EQ(get("/v3/translation_memories", {{"page", "1"}})["translation_memories"], json::array());
  EXPECT_EQ(get("/v3/translation_memories/desk", {})["target_languages"], json::array({"fr"}));
  get("/v3/translation_memories/other", {}, 404);
  const std::string path = "/v3/translation_memories/desk/segments";
  const json first = get(path, {{"page_size", "1"}});
  EXPECT_EQ(first["segments"][0]["targets"][0]["target_text"], "Le chat dort.");
  EXPECT_EQ(first["segments"][0]["updated_time"], "2023-11-14T22:13:20.000Z");
  const json second = get(path, {{"page_size", "1"}, {"page_cursor", first["next_page_cursor"]}});
  EXPECT_EQ(second["segments"][0]["source_text"], "The dog sleeps in the garden.");
  EXPECT_FALSE(second.contains("next_page_cursor"));
  EXPECT_EQ(get(path, {{"filter_text", "JARDIN"}})["segments"].size(), 1u);
  EXPECT_EQ(get(path, {{"filter_text", "JARDIN"}, {"filter_case_sensitive", "true"}})["segments"].size(), 0u);
  get(path, {{"page_size", "101"}}, 400);
}

TEST_F(DeskTest, DeepLTranslatesWithAMemory) {
  const json body = {{"text", {"The cat sleeps."}}, {"source_lang", "EN"}, {"target_lang", "FR"}};
  const auto with = [&](const json& more, int status) {
    json all = body;
    all.update(more);
    post("/v2/translate", all, status);
    return server_.translations.seen.back();
  };
  with({{"translation_memory_id", "desk"}, {"translation_memory_threshold", 80}}, 200);
  EXPECT_EQ(server_.translations.seen.back().memory_at_least, 0.8);
  with({{"translation_memory_id", "other"}}, 404);
  with({{"translation_memory_id", "desk"}, {"translation_memory_threshold", 101}}, 400);
  with({{"translation_memory_id", "desk"}, {"source_lang", "FR"}, {"target_lang", "EN"}}, 400);
}

TEST(DeskServerTest, DeepLExports) {
  const TemporaryFolder folder;
  ServeSettings settings = test_settings();
  settings.memories = {"desk=" + memory_in(folder, "memory")};
  const TestServer server(settings);
  const ClientResponse begun = server.post("/v3/translation_memories/desk/export", json::object());
  EXPECT_EQ(begun.status, 202);
  const std::string id = json::parse(begun.body)["job_id"];
  const json job = json::parse(server.get("/v3/translation_memories/jobs/" + id).body);
  EXPECT_EQ(job["results"][0]["status"], "completed");
  const std::string url = job["results"][0]["download_url"], host = "http://localhost";
  ASSERT_TRUE(url.starts_with(host + "/")) << url;
  EXPECT_NE(server.get(url.substr(host.size())).body.find("Le chat dort."), std::string::npos);
  EXPECT_EQ(server.get("/v3/translation_memories/exports/none").status, 404);
  EXPECT_EQ(server.ask("DELETE", "/v3/translation_memories/desk").status, 403);
}

}  // namespace
}  // namespace dragoman::internal
