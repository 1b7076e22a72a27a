// The pages' files as they are answered, and that what they name is there.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dragoman/document.h"
#include "report/page.h"
#include "serve/web/pages.h"

namespace dragoman::internal {
namespace {

struct Kept : Responder::Sink {
  HttpResponse answer;
  void send(HttpResponse response) override { answer = std::move(response); }
  void begin(HttpResponse) override {}
  bool write(std::string_view) override { return true; }
  void end() override {}
};

// What the route that has this path answers.
HttpResponse get(const std::string& path, HttpHeaders headers = {}) {
  const auto kept = std::make_shared<Kept>();
  ServeCall call = {.request = {.method = "GET", .path = path, .headers = std::move(headers)},
                    .responder = Responder(kept)};
  for (const Route& route : web_routes({.training = true})) {
    if (route.path == path) route.handle(call);
    if (route.path == "/web/<name>" && path.starts_with("/web/")) {
      call.name = path.substr(5);
      route.handle(call);
    }
  }
  return kept->answer;
}

std::string header(const HttpResponse& response, std::string_view name) {
  const auto found = std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? "" : found->second;
}

TEST(Web, APageNamesOnlyFilesThatAreAnswered) {
  int named = 0;
  for (const char* page : {"/", "/inspect", "/training"}) {
    const std::string text = get(page).body;
    const std::regex reference(R"re((?:src|href)="(web/[^"]*)")re");
    for (std::sregex_iterator each(text.begin(), text.end(), reference), end; each != end; ++each, ++named)
      EXPECT_FALSE(get("/" + (*each)[1].str()).body.empty()) << page << " names " << (*each)[1];
  }
  EXPECT_GT(named, 10);
}

TEST(Web, AScriptImportsOnlyFilesThatAreAnswered) {
  int named = 0;
  for (const auto& file : std::filesystem::directory_iterator(DRAGOMAN_SOURCE_DIR "/web")) {
    if (file.path().extension() != ".js") continue;
    const std::string text(embedded_file(file.path().filename().string()));
    const std::regex import(R"re(from "\./([^"]*)")re");
    for (std::sregex_iterator each(text.begin(), text.end(), import), end; each != end; ++each, ++named)
      EXPECT_FALSE(get("/web/" + (*each)[1].str()).body.empty()) << file.path() << " imports " << (*each)[1];
  }
  EXPECT_GT(named, 5);
}

TEST(Web, NothingInlineRunsAndNoOtherServerIsAsked) {
  for (const char* page : {"/", "/inspect", "/training"}) {
    const HttpResponse response = get(page);
    EXPECT_EQ(response.type, "text/html; charset=utf-8");
    const std::string policy = header(response, "Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_FALSE(std::regex_search(response.body, std::regex("https?://|<style|<script>|style=| on[a-z]+=")));
  }
}

TEST(Web, AKnownVersionIsNotSentAgain) {
  const HttpResponse first = get("/web/translate.js");
  const std::string tag = header(first, "ETag");
  EXPECT_EQ(first.type, "text/javascript; charset=utf-8");
  EXPECT_EQ(get("/web/translate.js", {{"if-none-match", "W/" + tag + ", \"other\""}}).status, 304);
  EXPECT_EQ(get("/web/translate.js", {{"if-none-match", "\"other\""}}).status, 200);
  EXPECT_NE(header(get("/web/page.js"), "ETag"), tag);
}

TEST(Web, TheIconIsWhereBrowsersAskForOne) {
  const HttpResponse icon = get("/favicon.ico");
  EXPECT_EQ(icon.type, "image/svg+xml");
  EXPECT_EQ(icon.body, get("/web/icon.svg").body);
}

TEST(Web, OtherNamesAreNotFound) {
  for (const char* name : {"/web/report.html", "/web/../serve.key", "/web/", "/web/none.js"}) {
    try {
      get(name);
      ADD_FAILURE() << name;
    } catch (const ServeError& error) {
      EXPECT_EQ(error.status(), 404);
    }
  }
}

TEST(Web, ThePageKnowsWhetherThereAreRunsToShowAndWhichDocumentsItMayTake) {
  const nlohmann::json settings = nlohmann::json::parse(get("/web/settings.json").body);
  EXPECT_EQ(settings["training"], true);
  const std::vector<dragoman::DocumentFormat> formats = dragoman::document_formats();
  ASSERT_EQ(settings["formats"].size(), formats.size());
  for (size_t i = 0; i < formats.size(); ++i) {
    EXPECT_EQ(settings["formats"][i]["description"], formats[i].description);
    EXPECT_EQ(settings["formats"][i]["endings"], formats[i].endings);
  }
}

}  // namespace
}  // namespace dragoman::internal
