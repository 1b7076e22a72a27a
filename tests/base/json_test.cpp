#include "base/json.h"

#include <string>

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

std::string nested(const std::string& open, size_t depth, const std::string& close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (size_t i = 0; i < depth; ++i) text += close;
  return text;
}

TEST(Json, IsReadAsBefore) {
  EXPECT_EQ(parse_json(R"({"a": [1, {"b": "]}\"["}]})").dump(), R"({"a":[1,{"b":"]}\"["}]})");
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(R"({"b": 1, "a": 2})").dump(), R"({"b":1,"a":2})");
  for (const char* wrong : {"", "{", "[1,]", "]", "1e999", "\"\xff\""})
    EXPECT_THROW(parse_json(wrong), nlohmann::json::exception) << wrong;
}

TEST(Json, DeepNestingIsAnError) {
  EXPECT_NO_THROW(parse_json(nested("[", max_json_depth, "]")));
  EXPECT_THROW(parse_json(nested("[", max_json_depth + 1, "]")), nlohmann::json::exception);
  EXPECT_THROW(parse_json(nested("{\"a\": ", max_json_depth + 1, "}")), nlohmann::json::exception);
  EXPECT_THROW(parse_json(nested("[{\"\\\\\": ", 100'000, "}]")), nlohmann::json::exception);
  EXPECT_THROW(parse_json(std::string(100'000, '[')), nlohmann::json::exception);
}

TEST(Json, AnIntegerIsNoOtherNumber) {
  const nlohmann::json json = {{"a", 3}, {"b", -3}, {"c", 1e300}, {"d", 2.0}, {"e", "4"}, {"f", {5, 6.5}}};
  EXPECT_EQ(integer_at(json, "a"), 3);
  EXPECT_EQ(integer_at(json, "b"), -3);
  EXPECT_EQ(integer_at(json["f"], 0), 5);
  for (const char* key : {"c", "d", "e", "f", "g"})
    EXPECT_THROW(integer_at(json, key), nlohmann::json::exception) << key;
  EXPECT_THROW(integer_at(json["f"], 1), nlohmann::json::exception);
}

// Brackets in strings are text, and those that were closed do not count.
TEST(Json, OnlyNestingCounts) {
  EXPECT_NO_THROW(parse_json("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\""));
  std::string list = "[";
  for (int i = 0; i < 1000; ++i) list += "[{}],";
  EXPECT_NO_THROW(parse_json(list + "1]"));
}

TEST(Json, TextIsAlwaysUtf8) {
  EXPECT_EQ(json_text(nlohmann::json{{"a", "caf\xe9"}, {"b", 1}}), "{\"a\":\"caf\xef\xbf\xbd\",\"b\":1}");
  EXPECT_EQ(json_text(nlohmann::ordered_json{{"b", "é"}}, 1), "{\n \"b\": \"é\"\n}");
}

}  // namespace
}  // namespace dragoman::internal
