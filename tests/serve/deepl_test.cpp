#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/deepl/routes.h"
#include "serve/deepl/tags.h"
#include "serve/fake_server.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class DeepLTest : public testing::Test {
 protected:
  DeepLTest() { server.routes = deepl_routes(server.context); }

  std::string message(const json& body, int status = 400) {
    const auto answer = server.post("/v2/translate", body);
    EXPECT_EQ(answer->response.status, status) << answer->response.body;
    return answer->json().value("message", "");
  }

  std::string glossary(const std::string& from = "en", const std::string& to = "fr") {
    const auto answer = server.post("/v2/glossaries", {{"name", "mine"},
                                                       {"source_lang", from},
                                                       {"target_lang", to},
                                                       {"entries", "cat\tchat\ndog\tchien"},
                                                       {"entries_format", "tsv"}});
    EXPECT_EQ(answer->response.status, 201) << answer->response.body;
    return answer->json().value("glossary_id", "");
  }

  FakeServer server;
};

TEST_F(DeepLTest, TextsAsJsonOrForm) {
  const json wanted = {{"translations",
                        {{{"detected_source_language", "EN"}, {"text", "fr(Hi é)"}},
                         {{"detected_source_language", "EN"}, {"text", "fr(Ho)"}}}}};
  EXPECT_EQ(
      server.post("/v2/translate", {{"text", {"Hi é", "Ho"}}, {"source_lang", "EN"}, {"target_lang", "FR"}})
          ->json(),
      wanted);
  EXPECT_EQ(server.post_form("/v2/translate", "text=Hi+%C3%A9&text=Ho&source_lang=en&target_lang=fr")->json(),
            wanted);
  EXPECT_EQ(server.post_form("/v2/translate", "text=Ho&target_lang=PT-BR&show_billed_characters=1")->json(),
            json({{"translations",
                   {{{"detected_source_language", "EN"}, {"text", "pt(Ho)"}, {"billed_characters", 2}}}}}));
  EXPECT_EQ(server.post("/v2/translate", {{"text", {"Ho"}}, {"target_lang", "EN-GB"}, {"source_lang", "fr"}})
                ->json()["translations"][0]["text"],
            "en(Ho)");
  EXPECT_EQ(server.get("/v2/usage")->json(),
            json({{"character_count", 16}, {"character_limit", 1'000'000'000'000}}));
}

TEST_F(DeepLTest, OptionsOfTexts) {
  const auto send = [&](json body) {
    body.update({{"text", {"a\nb"}}, {"target_lang", "FR"}});
    const auto answer = server.post("/v2/translate", body);
    EXPECT_EQ(answer->response.status, 200) << answer->response.body;
    return std::pair(server.translations.seen.back(),
                     std::string(header_of(answer->response.headers, "x-ignored")));
  };
  EXPECT_EQ(send({}).first.text, "a\nb");
  EXPECT_TRUE(send({{"split_sentences", "1"}}).first.options.empty());
  EXPECT_EQ(send({{"split_sentences", "nonewlines"}}).first.text, "a b");
  EXPECT_EQ(send({{"split_sentences", "0"}}).first.options.at(0).first, "split-sentences");
  EXPECT_EQ(send({{"tag_handling", "xml"}}).first.format, "xml");
  EXPECT_EQ(send({{"tag_handling", "html"}, {"split_sentences", "nonewlines"}}).first.text, "a\nb");
  EXPECT_EQ(send({{"formality", "more"}, {"context", "c"}}).second, "formality, context");
  EXPECT_EQ(send({{"formality", "default"}, {"context", ""}, {"preserve_formatting", true}}).second, "");
}

TEST_F(DeepLTest, IgnoredTagsAreMarkedForTheReaderAlone) {
  const std::string text = "a <x id=\"1\">b</x> <xy/> <x/>< x>";
  const auto answer = server.post(
      "/v2/translate",
      {{"text", {text}}, {"target_lang", "FR"}, {"tag_handling", "xml"}, {"ignore_tags", {"x", "z,q"}}});
  EXPECT_EQ(server.translations.seen.at(0).text,
            "a <x translate=\"no\" data-ignored=\"0\" id=\"1\">b</x> <xy/> <x translate=\"no\" "
            "data-ignored=\"0\"/>< x>");
  EXPECT_EQ(answer->json()["translations"][0]["text"], "fr(" + text + ")");
  const IgnoredTags tags({"x"});
  const std::string has_mark = "<x translate=\"no\" data-ignored=\"0\"><x>";
  const IgnoredTags::MarkedText marked = tags.marked(has_mark);
  EXPECT_EQ(marked.text, "<x translate=\"no\" data-ignored=\"0\"><x translate=\"no\" data-ignored=\"1\">");
  EXPECT_EQ(IgnoredTags::unmarked(marked.text, marked.mark), has_mark);
}

// What would take minutes, or gigabytes, if its time or memory grew with the square of its length.
// In time that grew with the square of their size these would take longer than a test may.
TEST_F(DeepLTest, ManyIgnoredTags) {
  const IgnoredTags tags({"x"});
  std::string open, marks;
  for (int i = 0; i < 500'000; ++i) open += "<x>";
  for (int i = 0; i < 50'000; ++i) marks += fmt::format(" translate=\"no\" data-ignored=\"{}\"", i);
  for (const std::string& text : {std::string(2'000'000, '<'), open, marks}) {
    const IgnoredTags::MarkedText marked = tags.marked(text);
    EXPECT_EQ(IgnoredTags::unmarked(marked.text, marked.mark), text);
  }

  std::string names;
  for (int i = 0; i < 501; ++i) names += fmt::format("name{},", i);
  const json body = {{"text", {"a"}}, {"target_lang", "FR"}, {"tag_handling", "xml"}, {"ignore_tags", names}};
  EXPECT_EQ(message(body), "Value for 'ignore_tags' has more than 500 tags.");
}

TEST_F(DeepLTest, WhatIsRefusedDoesNotCount) {
  server.translations.full = true;
  message({{"text", {"abc"}}, {"target_lang", "FR"}}, 503);
  EXPECT_EQ(server.get("/v2/usage")->json().at("character_count"), 0);
  server.translations.full = false;
  message({{"text", {"abc"}}, {"target_lang", "FR"}}, 200);
  EXPECT_EQ(server.get("/v2/usage")->json().at("character_count"), 3);
}

TEST_F(DeepLTest, ErrorsAreInItsWords) {
  EXPECT_EQ(message({{"target_lang", "FR"}}), "Parameter 'text' not specified.");
  EXPECT_EQ(message({{"text", {"a"}}}), "Value for 'target_lang' not specified.");
  EXPECT_EQ(message({{"text", {"a"}}, {"target_lang", "XX"}}), "Value for 'target_lang' not supported.");
  EXPECT_EQ(message({{"text", {"a"}}, {"target_lang", "FR"}, {"source_lang", "PT"}}),
            "Value for 'source_lang' not supported.");
  EXPECT_EQ(message({{"text", {"a"}}, {"target_lang", "FR"}, {"tag_handling", "md"}}),
            "Value for 'tag_handling' not supported.");
  EXPECT_EQ(message({{"text", {"a"}}, {"target_lang", "FR"}, {"split_sentences", "2"}}),
            "Value for 'split_sentences' not supported.");
  EXPECT_NE(message({{"text", {"a", 5}}, {"target_lang", "FR"}}), "");
  EXPECT_EQ(
      message({{"text", {"a"}}, {"target_lang", "FR"}, {"source_lang", "EN"}, {"glossary_id", "x"}}, 404),
      "Glossary not found");
  EXPECT_EQ(message({{"text", {"a"}}, {"target_lang", "FR"}, {"glossary_id", glossary()}}),
            "Value for 'source_lang' required with 'glossary_id'.");
  EXPECT_NE(message({{"text", {std::string(100'001, 'a')}}, {"target_lang", "FR"}}, 413), "");
}

TEST_F(DeepLTest, Languages) {
  EXPECT_EQ(server.get("/v2/languages")->json().at(0), json({{"language", "DE"}, {"name", "German"}}));
  EXPECT_EQ(server.get("/v2/languages")->json().size(), 3u);
  // DeepL's own client sends a form with a GET.
  const auto targets = server.send(
      {.method = "GET",
       .path = "/v2/languages",
       .headers = {{"content-type", "application/x-www-form-urlencoded"}, {"content-length", "11"}},
       .body = "type=target"});
  EXPECT_EQ(targets->json().at(3),
            json({{"language", "ZH"}, {"name", "Chinese"}, {"supports_formality", false}}));
  EXPECT_EQ(server.send({.method = "GET", .path = "/v2/languages", .query = {{"type", "target"}}})->json(),
            targets->json());
  EXPECT_EQ(
      server.send({.method = "GET", .path = "/v2/languages", .query = {{"type", "x"}}})->response.status,
      400);
}

TEST_F(DeepLTest, Glossaries) {
  const std::string id = glossary();
  const json info = server.get("/v2/glossaries/" + id)->json();
  EXPECT_EQ(info.at("entry_count"), 2);
  EXPECT_EQ(info.at("source_lang"), "en");
  EXPECT_TRUE(std::regex_match(info.at("creation_time").get<std::string>(),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  EXPECT_EQ(server.get("/v2/glossaries")->json(), json({{"glossaries", {info}}}));
  EXPECT_EQ(server.get("/v2/glossaries/" + id + "/entries")->response.body, "cat\tchat\ndog\tchien\n");
  server.post("/v2/translate",
              {{"text", {"a cat"}}, {"source_lang", "EN"}, {"target_lang", "FR"}, {"glossary_id", id}});
  ASSERT_TRUE(server.translations.seen.back().glossary);
  EXPECT_EQ(server.translations.seen.back().glossary->terms("a cat").size(), 1u);
  EXPECT_NE(message({{"text", {"a"}}, {"source_lang", "FR"}, {"target_lang", "EN"}, {"glossary_id", id}}),
            "");
  const auto remove = [&] {
    return server.send({.method = "DELETE", .path = "/v2/glossaries/" + id})->response.status;
  };
  EXPECT_EQ(remove(), 204);
  EXPECT_EQ(remove(), 404);
  EXPECT_EQ(server.get("/v2/glossaries/" + id)->response.status, 404);
  EXPECT_EQ(server.get("/v2/glossary-language-pairs")->json().at("supported_languages").size(), 5u);
}

TEST_F(DeepLTest, GlossariesThatCannotBe) {
  const json good = {{"name", "n"},
                     {"source_lang", "EN"},
                     {"target_lang", "FR"},
                     {"entries", "a,b"},
                     {"entries_format", "csv"}};
  EXPECT_EQ(server.post("/v2/glossaries", good)->response.status, 201);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"name", ""},
                                                        {"source_lang", "FR"},
                                                        {"entries", ""},
                                                        {"entries", "a"},
                                                        {"entries_format", "xls"},
                                                        {"entries", std::string(501, 'a') + ",b"}}) {
    json body = good;
    body[name] = value;
    EXPECT_EQ(server.post("/v2/glossaries", body)->response.status, 400) << name << " " << value;
  }
  json through = good;
  through["source_lang"] = "DE";  // by way of English
  EXPECT_EQ(server.post("/v2/glossaries", through)->response.status, 400);
}

TEST_F(DeepLTest, DocumentsAreFetchedWithTheirKey) {
  server.translations.at_once = false;
  const auto upload =
      server.post_file("/v2/document", {{"target_lang", "FR"}, {"source_lang", "EN"}}, "a.txt", "Hi");
  ASSERT_EQ(upload->response.status, 200) << upload->response.body;
  const std::string path = "/v2/document/" + upload->json().value("document_id", "");
  const json key = {{"document_key", upload->json().at("document_key")}};
  EXPECT_EQ(server.post(path, key)->json().at("status"), "translating");
  EXPECT_EQ(server.post(path + "/result", key)->response.status, 503);
  server.translations.answer_all();
  EXPECT_EQ(server.post(path, key)->json().at("status"), "done");
  const auto file = server.post(path + "/result", key);
  EXPECT_EQ(file->response.body, "fr(Hi)");
  EXPECT_EQ(header_of(file->response.headers, "content-disposition"), "attachment; filename=\"a_fr.txt\"");
  EXPECT_EQ(server.post(path, {{"document_key", "x"}})->response.status, 404);
  EXPECT_EQ(server.post(path + "/result", json::object())->response.status, 404);
  EXPECT_EQ(server.post("/v2/document/x", key)->response.status, 404);

  const auto failed =
      server.post_file("/v2/document", {{"target_lang", "FR"}, {"filename", "b.html"}}, "a", "fail");
  server.translations.answer_all();
  const json status = server
                          .post("/v2/document/" + failed->json().value("document_id", ""),
                                {{"document_key", failed->json().at("document_key")}})
                          ->json();
  EXPECT_EQ(status.at("status"), "error");
  const auto text = server.post("/v2/translate", {{"text", {"fail"}}, {"target_lang", "FR"}});
  server.translations.answer_all();
  EXPECT_EQ(status.at("error_message"), text->json().at("message"));
  EXPECT_EQ(status.dump().find("a translation failed"), std::string::npos)
      << "that may name the server's files";
}

TEST(DeepLDocuments, CountAsTextsDo) {
  FakeServer server({.limits = {.characters = 10, .characters_per_minute = 15}});
  server.routes = deepl_routes(server.context);
  const auto error_of = [&](const std::string& text) {
    const json uploaded = server.post_file("/v2/document", {{"target_lang", "FR"}}, "a.txt", text)->json();
    const json key = {{"document_key", uploaded.at("document_key")}};
    return server.post("/v2/document/" + uploaded.value("document_id", ""), key)
        ->json()
        .value("error_message", "");
  };
  EXPECT_NE(error_of(std::string(11, 'x')).find("the file has 11 characters"), std::string::npos);
  EXPECT_EQ(error_of(std::string(10, 'x')), "");
  EXPECT_NE(error_of(std::string(10, 'x')).find("15 characters in a minute"), std::string::npos);
  EXPECT_EQ(server.get("/v2/usage")->json().at("character_count"), 10);
}

}  // namespace
}  // namespace dragoman::internal
