#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unicode/messagepattern.h>

#include "base/json.h"
#include "base/random.h"
#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

bool json_has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

Texts texts_in(const std::string& json) { return texts_of(read_as("json", json)); }

TEST(JsonStrings, TranslatesStringsAndKeepsTheRest) {
  const std::string file =
      "\xEF\xBB\xBF{ \"title\" : \"My \\\"page\\\"\",\r\n\t\"n\": 1e5, \"list\": [\"one\", {\"deep\": "
      "\"two\\/three\"}, null, true],"
      "\"url\": \"https://a.org/x\", \"only\": \"{{name}}: {0}\", \"empty\": \"\", \"title\": \"again\" }\n";
  const Document document = read_as("json", file);
  EXPECT_EQ(texts_of(document), (Texts{"My \"page\"", "one", "two/three", "again"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_TRUE(json_has(rotation_of(document),
                       "\"title\" : \"Zl \\\"cntr\\\"\",\r\n\t\"n\": 1e5, \"list\": [\"bar\", {\"deep\""));
}

TEST(JsonStrings, EscapeBeyondAsciiWhereTheFileDoes) {
  const auto written = [](const std::string& file) {
    return read_as("json", file)
        .write(Texts{read_as("json", file).segments[0].escape("ü \n\x01 \xF0\x9F\x98\x80")});
  };
  EXPECT_EQ(written("[\"\\u00e9t\\u00e9\"]"), "[\"\\u00fc \\n\\u0001 \\ud83d\\ude00\"]");
  EXPECT_EQ(written("\xEF\xBB\xBF[\"\\u00e9t\\u00e9\"]"),
            "\xEF\xBB\xBF[\"\\u00fc \\n\\u0001 \\ud83d\\ude00\"]");
  EXPECT_EQ(written("[\"été\"]"), "[\"ü \\n\\u0001 \xF0\x9F\x98\x80\"]");
  EXPECT_EQ(texts_in("[\"\\ud83d\\ude00 \\u00e9t\\u00E9 \\u0041\"]"), (Texts{"\xF0\x9F\x98\x80 été A"}));
}

// A letter is six bytes of the file, and two of the text.
TEST(JsonStrings, EscapesDivideNoSentence) {
  std::string sentence, text;
  for (int line = 0; line < 8; ++line) {
    for (int letter = 0; letter < 100; ++letter) sentence += "\\u0430", text += "а";
    if (line < 7) sentence += "\\n", text += " ";
  }
  EXPECT_EQ(texts_in("[\"" + sentence + "\"]"), Texts{text});
}

TEST(JsonStrings, KnowsTheLayoutsOfStringTables) {
  EXPECT_EQ(texts_in(R"({"@@locale": "en", "hi": "Hello", "@hi": {"description": "a greeting"}})"),
            (Texts{"Hello"}));
  EXPECT_EQ(
      texts_in(
          R"({"a": {"message": "Hello $NAME$", "description": "x", "placeholders": {"name": {"content": "message"}}},
                         "b": {"message": "Bye"}})"),
      (Texts{"Hello $NAME$", "Bye"}));
  EXPECT_EQ(texts_in(R"({"x1": {"defaultMessage": "Hello", "description": "no"}})"), (Texts{"Hello"}));
  EXPECT_EQ(texts_in(R"({"locale": "en", "translations": {"id": "Hello"}})"), (Texts{"Hello"}));
  EXPECT_EQ(texts_in(R"({"message": "Hello", "other": "Bye"})"), (Texts{"Hello", "Bye"}));
  EXPECT_EQ(texts_in(R"("Hello")"), (Texts{"Hello"}));
  const Document arb =
      document_format("json", "").read(R"({"@@locale": "en", "hi": "Hello"})", {.name = "a.arb", .to = "de"});
  EXPECT_EQ(identity_of(arb), R"({"@@locale": "de", "hi": "Hello"})");
}

TEST(JsonStrings, TranslatesTheTextsOfIcuMessages) {
  const std::string file =
      R"(["You have {count, plural, offset:1 =0 {no {thing}s} one {# file for \"{name}\"} other {# files}}!",)"
      R"( "{g, select, male {{n, plural, one {his {x, number} cat} other {it''s his cats}}})"
      R"( other {their '{'cats'}'}}"])";
  const Document document = read_as("json", file);
  EXPECT_EQ(texts_of(document), (Texts{"You have", "no {thing}s", "file for \"{name}\"", "files",
                                       "his {x, number} cat", "it's his cats", "their {cats}"}));
  EXPECT_EQ(identity_of(document), file);
  const DocumentSegment& last = document.segments[5];
  EXPECT_EQ(render(last, "l' d'une l'an'", {}), "l' d'une l'an''");
  EXPECT_EQ(render(last, "l'{x} d'an", {}), "l'''{'x'}' d''an");
  const Document name = read_as("json", R"(["{n, plural, one {#} other {#}}", "by {name}", "it's"])");
  EXPECT_EQ(render(name.segments.at(0), "d'{name} '", {}), "d''{name} ''");
  EXPECT_EQ(render(name.segments.at(1), "l' 'an' {", {}), "l'' ''an'' '{'");
  EXPECT_EQ(render(document.segments[6], "{x}", {}), "'{'x'}'");
  EXPECT_TRUE(json_has(rotation_of(document),
                       R"("Lbh unir {count, plural, offset:1 =0 {ab {thing}f} one {# svyr sbe \"{)"));
}

TEST(JsonStrings, KeepIcuMessagesThatAreBroken) {
  EXPECT_EQ(
      texts_in(
          R"(["{n, plural, one {# file} other {# files}", "{n, plural, one # other {x}}", "{n, select, }}", "a { b"])"),
      (Texts{"a { b"}));
  std::string deep = "a";
  for (int i = 0; i < 100; ++i) deep = "{n, select, other {" + deep + "}}";
  EXPECT_EQ(texts_in("[\"" + deep + "\"]"), Texts{});
}

// The names of a message's arguments, sorted. Nothing if ICU does not accept it.
std::optional<Texts> arguments_by_icu(const std::string& message) {
  UErrorCode status = U_ZERO_ERROR;
  icu::MessagePattern pattern(UMSGPAT_APOS_DOUBLE_OPTIONAL, status);
  pattern.parse(icu::UnicodeString::fromUTF8(message), nullptr, status);
  if (U_FAILURE(status)) return {};
  Texts names;
  for (int32_t i = 0; i < pattern.countParts(); ++i) {
    const icu::MessagePattern::Part& part = pattern.getPart(i);
    if (part.getType() == UMSGPAT_PART_TYPE_ARG_NAME || part.getType() == UMSGPAT_PART_TYPE_ARG_NUMBER ||
        part.getType() == UMSGPAT_PART_TYPE_REPLACE_NUMBER)
      pattern.getSubstring(part).toUTF8String(names.emplace_back());
  }
  std::ranges::sort(names);
  return names;
}

TEST(JsonStrings, KeepTheArgumentsOfIcuMessagesWhateverTheTranslationIs) {
  static const Texts units = {"word",
                              " ",
                              " ",
                              "{name}",
                              "{0}",
                              "it's",
                              "''",
                              "'{'",
                              "'{x}'",
                              "{n, number}",
                              "#",
                              "<b>x</b>",
                              "{g, select, a {his # {z}} other {it''s}}",
                              "{n, plural, one {# '#' file} other {# files}}"};
  size_t messages = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    std::string message = "one";
    for (uint64_t n = 1 + random.below(6); n > 0; --n) message += units[random.below(units.size())];
    const std::optional<Texts> wanted = arguments_by_icu(message);
    if (!wanted) continue;
    ++messages;
    const nlohmann::json table = {"{n, plural, other {x}}", message};
    const std::string translated = in_random_words(read_as("json", table.dump()), seed);
    const auto after = parse_json(translated)[1].get<std::string>();
    ASSERT_EQ(arguments_by_icu(after), wanted) << message << "\n" << after;
  }
  EXPECT_GT(messages, 1000u);
}

TEST(JsonStrings, NameTheLineThatIsWrong) {
  EXPECT_TRUE(refusal("json", "{\n\"a\": \"b\",\n}").starts_with("test.json: line 3 is not valid JSON"));
  EXPECT_TRUE(json_has(refusal("json", ""), "line 1 is not valid JSON"));
  EXPECT_TRUE(json_has(refusal("json", "[\"a"), "line 1 is not valid JSON"));
  EXPECT_TRUE(json_has(refusal("json", "[\"\\ud800\"]"), "line 1 is not valid JSON"));
  EXPECT_TRUE(
      json_has(refusal("json", std::string(100000, '[')), "nested too deeply, the limit is 100 levels"));
  EXPECT_TRUE(json_has(refusal("json", "[1e999]"), "too large"));
}

// A table, and the same one with its texts rotated.
class Table {
 public:
  explicit Table(uint64_t seed) : random_(seed) { value(0); }

  std::string source, expected;

 private:
  void add(const std::string& both) {
    source += both;
    expected += both;
  }
  std::string one_of(const Texts& choices) { return choices[random_.below(choices.size())]; }

  void space() { add(one_of({"", "", " ", "\n\t", "\r\n  "})); }

  void string() {
    add("\"");
    for (uint64_t units = random_.below(12); units > 0; --units) {
      std::string word;
      for (uint64_t size = 1 + random_.below(5); size > 0; --size)
        word += static_cast<char>('c' + random_.below(6));
      source += word;
      expected += rotated(word);
      if (units > 1)
        add(one_of(
            {" ", " ", " ", ", ", "\\n", "\\n \\n", "\\t", " é ", "\\\\", " \\\" ", " <br> ", " 12 "}));
    }
    add("\"");
  }

  void value(int depth) {
    space();
    const uint64_t kind = random_.below(depth > 4 ? 6 : 10);
    if (kind < 4) string();
    if (kind == 4) add(one_of({"null", "true", "-1.5e3", "0"}));
    if (kind == 5) add(one_of({"\"https://a.org\"", "\"{name}\"", "\"12 %\"", "\"\""}));
    if (kind > 5) {
      const bool is_object = kind % 2 == 0;
      add(is_object ? "{" : "[");
      for (uint64_t items = random_.below(5); items > 0; --items) {
        space();
        if (is_object) add(one_of({"\"key\"", "\"a b\"", "\"x\\\"y,{\""}) + one_of({":", " : "}));
        if (is_object && random_.below(8) == 0) {
          add("\"@meta\": {\"words\": [\"here\"]}");
        } else {
          value(depth + 1);
        }
        if (items > 1) add(",");
      }
      add(is_object ? "}" : "]");
    }
    space();
  }

  Random random_;
};

TEST(JsonStrings, ChangeNothingButTheTextsOfGeneratedTables) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const Table table(seed);
    if (refusal("json", table.source) != "") continue;  // "@meta" after a key
    const Document document = read_as("json", table.source);
    ASSERT_EQ(identity_of(document), table.source);
    ASSERT_EQ(rotation_of(document), table.expected) << table.source;
    ASSERT_EQ(parse_json(table.expected).flatten().size(), parse_json(table.source).flatten().size());
  }
}

TEST(JsonStrings, AreReadInLinearTimeWhateverTheyHold) {
  for (const std::string part : {"{", "{n, plural, ", "{n, select, other {", "'", "'{", "<a ", "&", "&a",
                                 "a&", "_", "a_", "\\n", "a\\n", "#", "\\u00e9", "\\ud83d\\ude00"}) {
    std::string file = "[\"{n, plural, other {x}}";
    while (file.size() < 300'000) file += part;
    file += "\"]";
    ASSERT_EQ(identity_of(read_as("json", file)), file) << part;
  }
}

}  // namespace
}  // namespace dragoman::internal
