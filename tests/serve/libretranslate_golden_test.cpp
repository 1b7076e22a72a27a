// Our answers beside those that LibreTranslate gave to the same requests (tests/golden/make_libretranslate_golden.py):
// the same statuses, the same errors to the letter, and values of the same shape.
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "serve/fake_server.h"
#include "serve/libretranslate/routes.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

// Names and types, without values; of a list its first element's.
json shape(const json& value) {
  if (value.is_number()) return "number";
  if (value.is_array()) return value.empty() ? json::array() : json::array({shape(value.front())});
  if (!value.is_object()) return value.type_name();
  json all;
  for (const auto& [name, field] : value.items()) all[name] = shape(field);
  return all;
}

std::string form_of(const json& body) {
  std::string form;
  for (const auto& [name, value] : body.items()) {
    form += (form.empty() ? "" : "&") + name + "=";
    for (const unsigned char c : value.is_string() ? value.get<std::string>() : value.dump())
      form += fmt::format("%{:02x}", c);
  }
  return form;
}

TEST(LibreTranslateGoldenTest, AnswersAreOfTheSameKind) {
  FakeServer server;
  server.routes = libretranslate_routes(server.context);
  std::ifstream file(DRAGOMAN_SOURCE_DIR "/tests/golden/fixtures/libretranslate/answers.json");
  const json recorded = json::parse(file);
  ASSERT_GT(recorded.size(), 60u);
  for (const json& one : recorded) {
    SCOPED_TRACE(one.dump());
    const std::string path = one.at("path");
    const auto answer = one.at("method") == "GET"  ? server.get(path)
                        : one.at("kind") == "json" ? server.post(path, one.at("body"))
                                                   : server.post_form(path, form_of(one.at("body")));
    EXPECT_EQ(answer->response.status, one.at("status"));
    if (one.at("status") == 200) {
      EXPECT_EQ(shape(answer->json()), shape(one.at("answer")));
    } else {
      EXPECT_EQ(answer->json(), one.at("answer"));
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
