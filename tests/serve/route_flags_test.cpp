// What the tables of routes tell the dispatcher: which handlers may wait, and which change something.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "serve/deepl/api.h"
#include "serve/deepl/routes.h"
#include "serve/desk/routes.h"
#include "serve/fake_server.h"
#include "serve/libretranslate/routes.h"

namespace dragoman::internal {
namespace {

// Of all APIs.
std::vector<Route> routes_with(ServeSettings settings) {
  FakeServer server(std::move(settings));
  std::vector<Route> all;
  for (auto some : {v1_routes(server.context), libretranslate_routes(server.context),
                    deepl_routes(server.context), desk_routes(server.context)})
    std::ranges::move(some, std::back_inserter(all));
  return all;
}

Route route_of(ServeSettings settings, const std::string& method, const std::string& path) {
  for (const Route& route : routes_with(std::move(settings)))
    if (route.method == method && route.path == path) return route;
  ADD_FAILURE() << "there is no " << method << " " << path;
  return {};
}

TEST(RouteFlags, WhatMayWaitIsNotOnAThreadThatReadsRequests) {
  EXPECT_TRUE(route_of({}, "POST", "/suggest").uses_files);
  EXPECT_TRUE(route_of({}, "POST", "/v2/translate").uses_files);
  EXPECT_TRUE(route_of({.updates = "updates"}, "GET", "/v1/models").uses_files);
  EXPECT_FALSE(route_of({}, "GET", "/v1/models").uses_files);
}

// What a browser sends for them without asking first: GET, and POST with a form's types; and what adds to a memory.
TEST(RouteFlags, PagesOfOtherSitesChangeNothing) {
  std::set<std::string> changing;
  for (const Route& route : routes_with({}))
    if (route.changes_data) changing.insert(route.method + " " + route.path);
  std::set<std::string> expected = {"POST /suggest", "POST /v1/memories/<name>/import",
                                    "POST /v1/memories/<name>/segments", "POST /v2/glossaries",
                                    "POST /v3/translation_memories/<name>/export"};
  for (const std::string prefix : {"", "/api"})
    for (const std::string method : {"GET ", "POST "}) expected.insert(method + prefix + "/set");
  for (const std::string prefix : {"/tmserver", "/api/v1"}) {
    for (const std::string method : {"POST ", "PUT "})
      for (const std::string text : {"", "<text*>"})
        expected.insert(method + prefix + "/<from>/<to>/unit/" + text);
  }
  EXPECT_EQ(changing, expected);
}

TEST(MemoryExportsTest, AClientsOldestMakesRoomForItsNewest) {
  MemoryExports exports;
  const std::string first = exports.begin("desk", "alice"), second = exports.begin("desk", "alice"),
                    other = exports.begin("desk", "bob");
  for (int64_t i = 2; i <= MemoryExports::max_jobs_of_client; ++i) exports.begin("desk", "alice");
  EXPECT_THROW(exports.find(first), ServeError);
  EXPECT_EQ(exports.find(second, "alice").memory, "desk");
  EXPECT_EQ(exports.find(other, "bob").client, "bob");
  EXPECT_THROW(exports.find(second, "bob"), ServeError) << "which is another client's";
}

}  // namespace
}  // namespace dragoman::internal
