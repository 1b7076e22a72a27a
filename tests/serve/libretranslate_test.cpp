#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dragoman/document.h"
#include "serve/fake_server.h"
#include "serve/full_disk.h"
#include "serve/libretranslate/routes.h"
#include "serve/libretranslate/suggestions.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class LibreTranslateTest : public testing::Test {
 protected:
  explicit LibreTranslateTest(ServeSettings settings = {}) : server(std::move(settings)) {
    server.routes = libretranslate_routes(server.context);
  }

  json translated(const json& body) {
    const auto answer = server.post("/translate", body);
    EXPECT_EQ(answer->response.status, 200) << answer->response.body;
    return answer->json();
  }

  FakeServer server;
};

const json detected_english = {{"confidence", 81.3}, {"language", "en"}};

TEST_F(LibreTranslateTest, ATextOrAList) {
  EXPECT_EQ(translated({{"q", "Hi"}, {"source", "en"}, {"target", "fr"}}),
            json({{"translatedText", "fr(Hi)"}}));
  EXPECT_EQ(translated({{"q", {"Hi", "", "Ho"}}, {"source", "EN"}, {"target", "fr-CA"}}),
            json({{"translatedText", {"fr(Hi)", "fr()", "fr(Ho)"}}}));
  EXPECT_EQ(translated({{"q", "Hi"}, {"source", "auto"}, {"target", "fr"}}),
            json({{"translatedText", "fr(Hi)"}, {"detectedLanguage", detected_english}}));
  EXPECT_EQ(translated({{"q", {"a", "b"}}, {"source", "auto"}, {"target", "fr"}}),
            json({{"translatedText", {"fr(a)", "fr(b)"}},
                  {"detectedLanguage", {detected_english, detected_english}}}));
  EXPECT_EQ(translated({{"q", "Hi"}, {"source", "en"}, {"target", "fr"}, {"alternatives", 2}}),
            json({{"translatedText", "fr(Hi)"}, {"alternatives", {"fr1(Hi)", "fr2(Hi)"}}}));
  EXPECT_EQ(translated({{"q", {"a", "b"}}, {"source", "en"}, {"target", "fr"}, {"alternatives", "1"}}),
            json({{"translatedText", {"fr(a)", "fr(b)"}}, {"alternatives", {{"fr1(a)"}, {"fr1(b)"}}}}));
  EXPECT_EQ(translated({{"q", "Hi"}, {"source", "de"}, {"target", "fr"}}),
            json({{"translatedText", "fr(Hi)"}, {"via", {"en"}}}));
}

TEST_F(LibreTranslateTest, TextsOfAListGoAsOneBatch) {
  server.translations.at_once = false;
  const auto answer = server.post("/translate", {{"q", {"a", "b", "c"}}, {"source", "en"}, {"target", "fr"}});
  EXPECT_EQ(answer->response.status, 0);
  EXPECT_EQ(server.translations.seen.size(), 3u);
  server.translations.answer_all();
  EXPECT_EQ(answer->json(), json({{"translatedText", {"fr(a)", "fr(b)", "fr(c)"}}}));
}

TEST_F(LibreTranslateTest, OneFailureCancelsTheOthers) {
  server.translations.at_once = false;
  const auto answer = server.post("/translate", {{"q", {"fail", "b"}}, {"source", "en"}, {"target", "fr"}});
  server.translations.answer_all();
  EXPECT_EQ(answer->response.status, 500);
  EXPECT_TRUE(server.translations.seen.at(1).stop.stop_requested());
}

TEST_F(LibreTranslateTest, AClientThatGoesCancels) {
  server.translations.at_once = false;
  std::stop_source disconnected;
  const std::string body = R"({"q": "a", "source": "en", "target": "fr"})";
  const auto answer = server.send({.method = "POST",
                                   .path = "/translate",
                                   .headers = {{"content-type", "application/json"}, {"content-length", "9"}},
                                   .body = body,
                                   .disconnected = disconnected.get_token()});
  EXPECT_FALSE(server.translations.seen.at(0).stop.stop_requested());
  disconnected.request_stop();
  EXPECT_TRUE(server.translations.seen.at(0).stop.stop_requested());
}

TEST_F(LibreTranslateTest, FormsAndQueries) {
  EXPECT_EQ(
      server.post_form("/translate", "q=a%0D%0Ab+c&source=en&target=fr&format=html&alternatives=1")->json(),
      json({{"translatedText", "fr(a\nb c)"}, {"alternatives", {"fr1(a\nb c)"}}}));
  EXPECT_EQ(server.translations.seen.back().format, "html");
  EXPECT_EQ(server.post_file("/translate", {{"q", "a"}, {"source", "en"}, {"target", "fr"}}, "", "")->json(),
            json({{"translatedText", "fr(a)"}}));
  const auto answer = server.send(
      {.method = "POST", .path = "/translate", .query = {{"q", "a"}, {"source", "en"}, {"target", "fr"}}});
  EXPECT_EQ(answer->json(), json({{"translatedText", "fr(a)"}}));
}

// Words that its clients look for.
TEST_F(LibreTranslateTest, ErrorsAreInItsWords) {
  const json good = {{"q", "a"}, {"source", "en"}, {"target", "fr"}};
  const std::vector<std::pair<json, std::string>> bad = {
      {{{"q", nullptr}}, "Invalid request: missing q parameter"},
      {{{"q", ""}}, "Invalid request: missing q parameter"},
      {{{"q", json::array()}}, "Invalid request: missing q parameter"},
      {{{"q", 5}}, "Invalid request: q must be a string"},
      {{{"q", {"a", 5}}}, "Invalid request: q must be a string or a list of strings"},
      {{{"source", nullptr}}, "Invalid request: missing source parameter"},
      {{{"target", ""}}, "Invalid request: missing target parameter"},
      {{{"source", "xx"}}, "xx is not supported"},
      {{{"target", "auto"}}, "auto is not supported"},
      {{{"source", "fr"}, {"target", "pt"}},
       "Portuguese (pt) is not available as a target language from French (fr)"},
      {{{"format", "rtf"}}, "rtf format is not supported"},
      {{{"alternatives", "many"}}, "Invalid request: alternatives parameter is not a number"},
      {{{"alternatives", 20}}, "Invalid request: alternatives parameter must be <= 19"}};
  for (const auto& [change, message] : bad) {
    json body = good;
    body.update(change);
    const auto answer = server.post("/translate", body);
    EXPECT_EQ(answer->response.status, 400) << body;
    EXPECT_EQ(answer->json(), json({{"error", message}}));
  }
  EXPECT_EQ(server.post_form("/translate", "")->json(),
            json({{"error", "Invalid request: missing q parameter"}}));
  EXPECT_EQ(server.send({.method = "POST", .path = "/translate"})->response.status, 400);
  EXPECT_EQ(server.post("/translate", {{"q", std::string(100'001, 'a')}, {"source", "en"}, {"target", "fr"}})
                ->response.status,
            413);
}

TEST_F(LibreTranslateTest, DetectsLanguages) {
  EXPECT_EQ(server.post("/detect", {{"q", "été"}})->json(),
            json({{{"confidence", 81.3}, {"language", "fr"}}, {{"confidence", 10}, {"language", "en"}}}));
  EXPECT_EQ(server.post_form("/detect", "q=one")->json().at(0), detected_english);
  EXPECT_EQ(server.post("/detect", json::object())->json(),
            json({{"error", "Invalid request: missing q parameter"}}));
  server.post("/translate", {{"q", {"one", "été"}}, {"source", "auto"}, {"target", "en"}});
  EXPECT_EQ(server.translations.seen.at(0).from, "fr");  // of a list as a whole
}

TEST_F(LibreTranslateTest, ListsLanguagesAndSettings) {
  const json languages = server.get("/languages")->json();
  ASSERT_EQ(languages.size(), 5u);
  EXPECT_EQ(languages.at(0), json({{"code", "de"}, {"name", "German"}, {"targets", {"en", "fr"}}}));
  EXPECT_EQ(languages.at(1).at("targets"), json({"fr", "pt", "zh-Hans"}));
  EXPECT_EQ(languages.at(4).at("code"), "zh-Hans");
  EXPECT_EQ(languages.at(4).at("targets"), json::array());
  const json settings = server.get("/frontend/settings")->json();
  EXPECT_EQ(settings.at("charLimit"), 100'000);
  EXPECT_EQ(settings.at("suggestions"), false);
  EXPECT_EQ(settings.at("apiKeys"), false);
  EXPECT_EQ(settings.at("language").at("source").at("code"), "auto");
  EXPECT_NE(std::ranges::find(settings.at("supportedFilesFormat"), json(".docx")),
            settings.at("supportedFilesFormat").end());
}

TEST_F(LibreTranslateTest, FilesAreTranslatedAndFetched) {
  const auto answer = server.post_file("/translate_file", {{"source", "en"}, {"target", "fr"}},
                                       "My \xC3\xA9 page.html", "<p>Hi</p>");
  ASSERT_EQ(answer->response.status, 200) << answer->response.body;
  EXPECT_EQ(server.translations.seen.at(0).format, "html");
  EXPECT_EQ(server.translations.seen.at(0).name, "My é page.html");
  const std::string url = answer->json().at("translatedFileUrl"), address = "http://here:5000";
  ASSERT_TRUE(url.starts_with(address + "/download_file/")) << url;
  const auto file = server.get(url.substr(address.size()));
  EXPECT_EQ(file->response.body, "fr(<p>Hi</p>)");
  EXPECT_EQ(file->response.type, "application/octet-stream");
  EXPECT_EQ(header_of(file->response.headers, "content-disposition"),
            "attachment; filename=\"My____page_fr.html\"");
  EXPECT_EQ(header_of(file->response.headers, "x-content-type-options"), "nosniff");
  for (const char* name : {"x", "..", "0123456789abcdef0123456789abcdef.html", ".html"})
    EXPECT_EQ(server.get(std::string("/download_file/") + name)->response.status, 404) << name;
}

TEST_F(LibreTranslateTest, TheTranslationOfAFileIsNamedAfterItsOwnFormat) {
  const auto answer =
      server.post_file("/translate_file", {{"source", "en"}, {"target", "fr"}}, "Report.pdf", "%PDF-1.4");
  if (std::ranges::none_of(dragoman::document_formats(), [](const auto& f) { return f.name == "pdf"; })) {
    EXPECT_EQ(answer->response.status, 400);
  } else {
    EXPECT_TRUE(answer->json().at("translatedFileUrl").get<std::string>().ends_with(".Report_fr.txt"));
  }
}

TEST(LibreTranslateLimits, HoldForFilesAndAlternatives) {
  FakeServer server({.limits = {.characters = 10}});
  server.routes = libretranslate_routes(server.context);
  const auto file = [&](size_t size) {
    return server
        .post_file("/translate_file", {{"source", "en"}, {"target", "fr"}}, "a.txt", std::string(size, 'x'))
        ->response.status;
  };
  EXPECT_EQ(file(10), 200);
  EXPECT_EQ(file(11), 413);
  const auto lines = [&](const char* text, int alternatives) {
    return server
        .post("/translate", {{"q", text}, {"source", "en"}, {"target", "fr"}, {"alternatives", alternatives}})
        ->response.status;
  };
  EXPECT_EQ(lines("a\nb\n\nc", 0), 200);
  EXPECT_EQ(lines("a\nb\n\n\n", 4), 200);
  EXPECT_EQ(lines("a\nb\n\nc", 4), 413);
}

TEST(LibreTranslateLimits, WhatIsRefusedDoesNotCount) {
  FakeServer server({.limits = {.characters_per_minute = 10}});
  server.routes = libretranslate_routes(server.context);
  const json body = {{"q", std::string(10, 'x')}, {"source", "en"}, {"target", "fr"}};
  server.translations.full = true;
  EXPECT_EQ(server.post("/translate", body)->response.status, 503);
  server.translations.full = false;
  EXPECT_EQ(server.post("/translate", body)->response.status, 200);
  EXPECT_EQ(server.post("/translate", body)->response.status, 429);
}

// It would take minutes if each line end moved all that follows.
TEST_F(LibreTranslateTest, AFormOfManyLineEndsIsReadAtOnce) {
  std::string text;
  for (int i = 0; i < 3'000'000; ++i) text += "\r\n";
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"q", text}, {"source", "en"}, {"target", "fr"}};
  EXPECT_EQ(server.post_file("/translate", fields, "", "")->response.status, 413);
}

TEST_F(LibreTranslateTest, FilesThatCannotBeTranslated) {
  const std::vector<std::pair<std::string, std::string>> languages = {{"source", "en"}, {"target", "fr"}};
  const auto message = [&](const auto& fields, const std::string& name) {
    const auto answer = server.post_file("/translate_file", fields, name, "Hi");
    EXPECT_EQ(answer->response.status, 400);
    return answer->json().at("error").template get<std::string>();
  };
  EXPECT_EQ(message(languages, ""), "Invalid request: missing file parameter");
  EXPECT_EQ(message(languages, "a.exe"), "Invalid request: file format not supported");
  EXPECT_EQ(message(languages, ".html"), "Invalid request: file format not supported");
  EXPECT_EQ(message(std::vector{languages[0]}, "a.txt"), "Invalid request: missing target parameter");
  EXPECT_EQ(server.post("/translate_file", {{"source", "en"}})->response.status, 415);
  const auto failed = server.post_file("/translate_file", languages, "a.txt", "fail");
  EXPECT_EQ(failed->response.status, 500);
}

TEST_F(LibreTranslateTest, SuggestionsAreOffByDefault) {
  const auto answer = server.post("/suggest", {{"q", "a"}, {"s", "b"}, {"source", "en"}, {"target", "fr"}});
  EXPECT_EQ(answer->response.status, 403);
  EXPECT_EQ(answer->json(), json({{"error", "Suggestions are disabled on this server."}}));
}

TEST(SuggestionsTest, AreKeptAsLines) {
  const TemporaryFolder folder;
  ServeSettings settings;
  settings.suggestions = folder.path("suggestions.jsonl");
  FakeServer server(settings);
  server.routes = libretranslate_routes(server.context);
  EXPECT_EQ(
      server.post("/suggest", {{"q", "a\n\"é"}, {"s", "b"}, {"source", "en"}, {"target", "fr"}})->json(),
      json({{"success", true}}));
  EXPECT_EQ(server.post_form("/suggest", "q=c&s=d&source=en&target=fr")->response.status, 200);
  EXPECT_EQ(server.post_form("/suggest", "q=c&source=en&target=fr")->json(),
            json({{"error", "Invalid request: missing s parameter"}}));
  EXPECT_EQ(server.post_form("/suggest", "q=c&s=d&source=xx&target=fr")->response.status, 400);
  std::ifstream file(settings.suggestions);
  std::vector<json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].at("q"), "a\n\"é");
  EXPECT_EQ(lines[0].at("target"), "fr");
  EXPECT_EQ(lines[1].at("s"), "d");
  EXPECT_EQ(lines[1].at("time").get<std::string>().size(), 20u);
}

// Half a line would fit.
TEST(SuggestionsTest, AFullDiskLeavesNoHalfLine) {
  const TemporaryFolder folder;
  const std::string path = folder.path("suggestions.jsonl");
  Suggestions suggestions(path);
  const Suggestion one = {"en", "fr", "a", "b"};
  suggestions.add(one);
  const auto size = std::filesystem::file_size(path);
  {
    const FullDisk disk(size + 10);
    EXPECT_THROW(suggestions.add(one), dragoman::Error);
  }
  EXPECT_EQ(std::filesystem::file_size(path), size);
  suggestions.add(one);
  EXPECT_EQ(std::filesystem::file_size(path), 2 * size);
}

}  // namespace
}  // namespace dragoman::internal
