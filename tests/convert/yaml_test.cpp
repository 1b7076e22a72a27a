#include "convert/files/yaml.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fixtures.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

TEST(Yaml, IsReadAsJson) {
  const json read = parse_yaml(
      "type: transformer\ndim-vocabs:\n  - 48\n  - 52\nempty:\n  []\nflag: true\nrate: 0.6\nsmall: 1e-9\n"
      "quoted: \"12\"\nsingle: 'it''s'\nnone: ~\nnothing:\nnested: {a: [1, x], b: -3}\n",
      "x");
  EXPECT_EQ(
      read,
      json::parse(R"({"type": "transformer", "dim-vocabs": [48, 52], "empty": [], "flag": true, "rate": 0.6,
                      "small": 1e-9, "quoted": "12", "single": "it's", "none": null, "nothing": null,
                      "nested": {"a": [1, "x"], "b": -3}})"));
  EXPECT_EQ(parse_yaml("", "x"), nullptr);
  EXPECT_EQ(parse_yaml("word", "x"), "word");
  EXPECT_EQ(parse_yaml("nan", "x"), "nan");
}

// As in lists of tokens.
TEST(Yaml, KeysAreStrings) {
  EXPECT_EQ(parse_yaml("\"</s>\": 0\n\"\\\"\": 1\n'#': 2\n? ▁a\n: 3\n12: 4\ntrue: 5\n\"\\u2581\": 6\n", "x"),
            json::parse(R"({"</s>": 0, "\"": 1, "#": 2, "▁a": 3, "12": 4, "true": 5, "▁": 6})"));
}

std::string yaml_refusal(const std::string& text) {
  return error_of([&] { parse_yaml(text, "model.npz"); });
}

TEST(Yaml, WhatIsNotYamlIsAnErrorWithItsLine) {
  for (const std::string text : {"a: 1\nb: [1, 2\n", "a: 1\n\tb: 2\n: : :\n", "a: 1\nb: @x"})
    EXPECT_EQ(yaml_refusal(text).substr(0, 10), "model.npz:") << text << yaml_refusal(text);
  EXPECT_EQ(yaml_refusal("a: 1\nb: \xff\n"), "model.npz:2: not valid UTF-8");
  EXPECT_EQ(yaml_refusal("a: 1\na: 2\n"), "model.npz:2: duplicate key \"a\"");
  EXPECT_EQ(yaml_refusal("a: 1\n[1, 2]: 2\n"), "model.npz:2: a key must be a string");
}

// Nine lines of this kind would be a billion words.
TEST(Yaml, WhatMayGrowWithoutLimitIsRefused) {
  EXPECT_EQ(yaml_refusal("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
            "model.npz:2: aliases are not supported");
  EXPECT_EQ(yaml_refusal("<<: *a\n").substr(0, 10), "model.npz:");
  for (const size_t depth : {size_t{20}, size_t{100'000}, size_t{1'000'000}}) {
    EXPECT_NE(yaml_refusal(std::string(depth, '[')), "");
    EXPECT_NE(yaml_refusal(std::string(depth, '{')), "");
  }
  std::string steps;
  for (size_t i = 0; i < 300; ++i) steps += std::string(i, ' ') + "a:\n";
  EXPECT_NE(yaml_refusal(steps), "");
  EXPECT_NE(yaml_refusal(std::string((64 << 20) + 1, ' ')).find("bytes"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
