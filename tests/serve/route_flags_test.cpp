// What the tables of routes tell the dispatcher: which handlers may wait, and which change something.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "serve/deepl/api.h"
#include "serve/deepl/routes.h"
#include "serve/fake_server.h"
#include "serve/libretranslate/routes.h"

namespace dragoman::internal {
namespace {

Route route_of(ServeSettings settings, const std::string& method, const std::string& path) {
  FakeServer server(std::move(settings));
  for (const auto& routes :
       {v1_routes(server.context), libretranslate_routes(server.context), deepl_routes(server.context)})
    for (const Route& route : routes)
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

TEST(RouteFlags, PagesOfOtherSitesBeginNoExport) {
  EXPECT_TRUE(route_of({}, "POST", "/v3/translation_memories/<name>/export").changes_data);
}

TEST(MemoryExportsTest, AClientsOldestMakesRoomForItsNewest) {
  MemoryExports exports;
  const std::string first = exports.begin("desk", "alice"), second = exports.begin("desk", "alice"),
                    other = exports.begin("desk", "bob");
  for (int64_t i = 2; i <= MemoryExports::max_jobs_of_client; ++i) exports.begin("desk", "alice");
  EXPECT_THROW(exports.find(first), ServeError);
  EXPECT_EQ(exports.find(second, "alice").memory, "desk");
  EXPECT_EQ(exports.find(other, "bob").client, "bob");
}

}  // namespace
}  // namespace dragoman::internal
