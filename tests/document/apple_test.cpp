// Plural rules and String Catalogs of macOS and iOS. Their string tables are tested in string_tables_test.cpp.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

std::string plist(const std::string& content) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
         "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n" +
         content + "\n</plist>\n";
}

// A rule with these texts, and how often the number one is counted.
std::string rule(const std::string& format, const std::string& one, const std::string& other) {
  return "<dict>\n\t<key>Files of a folder</key>\n\t<dict>\n\t\t<key>NSStringLocalizedFormatKey</key>\n"
         "\t\t<string>" +
         format +
         "</string>\n\t\t<key>files</key>\n\t\t<dict>\n\t\t\t<key>NSStringFormatSpecTypeKey</key>\n"
         "\t\t\t<string>NSStringPluralRuleType</string>\n\t\t\t<key>NSStringFormatValueTypeKey</key>\n"
         "\t\t\t<string>d</string>\n\t\t\t<key>one</key>\n\t\t\t<string>" +
         one + "</string>\n\t\t\t<!-- more -->\n\t\t\t<key>other</key>\n\t\t\t<string>" + other +
         "</string>\n\t\t</dict>\n\t</dict>\n</dict>";
}

std::string written_as(std::string_view format, const std::string& file, const Texts& translations) {
  const Document document = read_as(format, file);
  Texts rendered;
  for (size_t i = 0; i < document.segments.size(); ++i)
    rendered.push_back(render(document.segments[i], translations.at(i), {}));
  return document.write(rendered);
}

TEST(Stringsdict, TranslatesTheTextsOfRules) {
  const std::string file = plist(rule("%#@files@ in %@", "A file &amp; more", "%d files"));
  const Document document = read_as("stringsdict", file);
  EXPECT_EQ(texts_of(document), (Texts{"%#@files@ in %@", "A file & more", "%d files"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(written_as("stringsdict", file, {"%@ : %#@files@", "Un fichier <&>", "%d fichiers"}),
            plist(rule("%2$@ : %1$#@files@", "Un fichier &lt;&amp;&gt;", "%d fichiers")));
}

TEST(Stringsdict, KeepsWhatIsOnlyARule) {
  const std::string file = plist(rule("%#@files@", "One<!-- x -->", "<![CDATA[x]]>"));
  EXPECT_EQ(texts_of(read_as("stringsdict", file)), Texts{});
  EXPECT_EQ(identity_of(read_as("stringsdict", file)), file);
}

TEST(Stringsdict, AreRefusedInASentence) {
  EXPECT_EQ(refusal("stringsdict", "bplist00\xD0"),
            "test.stringsdict: this is a binary property list: convert it with \"plutil -convert xml1\"");
  EXPECT_NE(refusal("stringsdict", "<plist><dict>"), "");
}

Document catalog(std::string_view file, const std::string& to = "fr") {
  return document_format("xcstrings", "").read(file, {.name = "test.xcstrings", .to = to});
}

std::string translated(const std::string& file, const Texts& translations) {
  const Document document = catalog(file);
  Texts rendered;
  EXPECT_EQ(document.segments.size(), translations.size());
  for (size_t i = 0; i < document.segments.size(); ++i)
    rendered.push_back(render(document.segments[i], translations.at(i), {}));
  return document.write(rendered);
}

// As Xcode lays it out, with these members of "strings".
std::string catalog_file(const std::string& strings) {
  return "{\n  \"sourceLanguage\" : \"en\",\n  \"strings\" : {\n" + strings +
         "\n  },\n  \"version\" : \"1.0\"\n}";
}

std::string unit(const std::string& language, const std::string& state, const std::string& text) {
  return "        \"" + language + "\" : {\n          \"stringUnit\" : {\n            \"state\" : \"" +
         state + "\",\n            \"value\" : \"" + text + "\"\n          }\n        }";
}

TEST(StringCatalog, TranslatesKeysThatAreTexts) {
  const std::string open = "    \"Open\\n\" : {";
  EXPECT_EQ(translated(catalog_file(open + "\n\n    }"), {"L'\"ouvrir\""}),
            catalog_file(open + "\n      \"localizations\" : {\n" +
                         unit("fr", "needs_review", "L'\\\"ouvrir\\\"\\n") + "\n      }\n    }"));
  EXPECT_EQ(translated(catalog_file(open + "\n      \"comment\" : \"a button\"\n    }"), {"Ouvrir"}),
            catalog_file(open + "\n      \"comment\" : \"a button\",\n      \"localizations\" : {\n" +
                         unit("fr", "needs_review", "Ouvrir\\n") + "\n      }\n    }"));
  EXPECT_EQ(translated(R"({"sourceLanguage":"en","strings":{"Open":{}}})", {"Ouvrir"}),
            R"({"sourceLanguage":"en","strings":{"Open":{"localizations":{"fr":{"stringUnit":)"
            R"({"state":"needs_review","value":"Ouvrir"}}}}}})");
}

TEST(StringCatalog, EscapesBeyondAsciiWhereTheFileDoesBehindAByteOrderMarkToo) {
  for (const std::string mark : {"", "\xEF\xBB\xBF"})
    EXPECT_EQ(
        translated(mark + R"({"sourceLanguage":"en","strings":{"Caf\u00e9 open":{}}})", {"Café ouvert"}),
        mark + R"({"sourceLanguage":"en","strings":{"Caf\u00e9 open":{"localizations":{"fr":{"stringUnit":)"
               R"({"state":"needs_review","value":"Caf\u00e9 ouvert"}}}}}})");
}

TEST(StringCatalog, WhiteSpaceWithoutEndIsNotCopied) {
  const std::string space(100'000, ' '),
      file = "{" + space + R"("sourceLanguage")" + space + R"(:"en","strings":{"Open":{}}})";
  EXPECT_EQ(translated(file, {"Ouvrir"}),
            "{" + space + R"("sourceLanguage")" + space +
                R"(:"en","strings":{"Open":{"localizations":{"fr":{"stringUnit":)"
                R"({"state":"needs_review","value":"Ouvrir"}}}}}})");
}

TEST(StringCatalog, TranslatesTheTextOfTheSourceLanguageAndKeepsOtherLanguages) {
  const std::string before = "    \"open_button\" : {\n      \"localizations\" : {\n",
                    after = "\n      }\n    }";
  const std::string de = unit("de", "translated", "Datei öffnen"), en = unit("en", "new", "Open %1$@"),
                    ja = unit("ja", "translated", "開く"), fr = unit("fr", "needs_review", "Ouvrir %1$@");
  const auto file = [&](const std::string& languages) { return catalog_file(before + languages + after); };
  EXPECT_EQ(translated(file(de + ",\n" + en + ",\n" + ja), {"Ouvrir %1$@"}),
            file(de + ",\n" + en + ",\n" + fr + ",\n" + ja));
  EXPECT_EQ(translated(file(en), {"Ouvrir %1$@"}), file(en + ",\n" + fr));
  EXPECT_EQ(translated(file(en + ",\n" + unit("fr", "new", "Open %1$@")), {"Ouvrir %1$@"}),
            file(en + ",\n" + fr));
  for (const std::string state : {"translated", "needs_review", "stale"}) {
    const std::string done = file(en + ",\n" + unit("fr", state, "Ouvre %1$@"));
    EXPECT_EQ(translated(done, {}), done);
  }
}

TEST(StringCatalog, TranslationsVaryAsTheSourceDoes) {
  const std::string shape =
      R"({"sourceLanguage": "en", "strings": {"%lld of %@": {"localizations": {"en": {)"
      R"("substitutions": {"n": {"argNum": 1, "formatSpecifier": "lld", "variations": )"
      R"({"plural": {"one": {"stringUnit": {"state": "translated", "value": "%arg file"}}, )"
      R"("other": {"stringUnit": {"state": "translated", "value": "%arg files"}}}}}}, )"
      R"("stringUnit": {"state": "new", "value": "%#@n@ of %@"}})";
  const std::string file = shape + R"(}}}, "version": "1.0"})";
  const Document document = catalog(file);
  EXPECT_EQ(texts_of(document), (Texts{"%arg file", "%arg files", "%#@n@ of %@"}));
  const auto root = parse_json(translated(file, {"%arg fichier", "%arg fichiers", "%@ : %#@n@"}));
  auto wanted = parse_json(file)["strings"]["%lld of %@"]["localizations"]["en"];
  auto& plural = wanted["substitutions"]["n"]["variations"]["plural"];
  plural["one"]["stringUnit"] = {{"state", "needs_review"}, {"value", "%arg fichier"}};
  plural["other"]["stringUnit"] = {{"state", "needs_review"}, {"value", "%arg fichiers"}};
  wanted["stringUnit"] = {{"state", "needs_review"}, {"value", "%2$@ : %1$#@n@"}};
  EXPECT_EQ(root["strings"]["%lld of %@"]["localizations"]["fr"], wanted);
}

TEST(StringCatalog, LeavesAloneWhatIsNotToBeTranslated) {
  for (const std::string entry :
       {R"("Open": {"shouldTranslate": false})", R"("Open": {"extractionState": "stale"})",
        R"("%@ %lld": {})", R"("": {})", R"x("^[%lld file](inflect: true)": {})x",
        R"("Open": {"localizations": {"en": {}}})",
        R"("Open": {"localizations": {"en": {"stringUnit": {"state": "new", "value": "%@"}}}})",
        R"("Open": 1)", R"("Open": {"localizations": []})"}) {
    const std::string file = R"({"sourceLanguage": "en", "strings": {)" + entry + "}}";
    EXPECT_EQ(texts_of(catalog(file)), Texts{}) << entry;
    EXPECT_EQ(translated(file, {}), file) << entry;
  }
}

TEST(StringCatalog, AreRefusedInASentence) {
  const auto refused = [](std::string_view file, const std::string& to) {
    try {
      catalog(file, to);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string file = catalog_file("    \"Open\" : {\n\n    }");
  EXPECT_NE(refused(file, "").find("give the one to translate to"), std::string::npos);
  EXPECT_NE(refused(file, "en").find("the catalog's texts are in the language en"), std::string::npos);
  EXPECT_NE(refused("{\"strings\": {}}", "fr").find("not a String Catalog"), std::string::npos);
  EXPECT_NE(refused("[]", "fr").find("not a String Catalog"), std::string::npos);
  EXPECT_NE(refused("{", "fr").find("line 1 is not valid JSON"), std::string::npos);
}

// A catalog of random entries, some translated, in a random layout.
class RandomCatalog {
 public:
  explicit RandomCatalog(uint64_t seed) : random_(seed) {}

  std::string operator()() {
    nlohmann::ordered_json strings = nlohmann::ordered_json::object();
    for (uint64_t entries = random_.below(6); entries > 0; --entries) strings[text()] = entry();
    const nlohmann::ordered_json root = {{"sourceLanguage", "en"}, {"strings", strings}, {"version", "1.0"}};
    return root.dump(random_.below(2) == 0 ? -1 : 2);
  }

 private:
  std::string text() {
    static const Texts units = {"word", " ",  " ",  "%@", "%d",       "%#@n@", "%arg",
                                "é",    "\n", "\"", "\\", "<b>x</b>", "100%"};
    std::string all = random_.below(8) == 0 ? "" : "One ";
    for (uint64_t n = random_.below(6); n > 0; --n) all += units[random_.below(units.size())];
    return all;
  }

  nlohmann::ordered_json localization(int depth) {
    if (depth > 0 && random_.below(3) == 0)
      return {{"variations",
               {{"plural", {{"one", localization(depth - 1)}, {"other", localization(depth - 1)}}}}}};
    if (random_.below(8) == 0) return {{"stringSet", {{"state", "new"}, {"values", {text(), text()}}}}};
    static const Texts states = {"new", "translated", "needs_review"};
    return {{"stringUnit", {{"state", states[random_.below(3)]}, {"value", text()}}}};
  }

  nlohmann::ordered_json entry() {
    nlohmann::ordered_json made = nlohmann::ordered_json::object();
    if (random_.below(3) == 0) made["comment"] = "One word";
    for (const char* language : {"de", "en", "fr", "ja"})
      if (random_.below(3) == 0) made["localizations"][language] = localization(2);
    return made;
  }

  Random random_;
};

// The catalog without the translations that a program added.
void drop_new(nlohmann::json& after, const nlohmann::json& before) {
  for (auto& [key, entry] : after["strings"].items()) {
    const auto& old = before["strings"][key];
    if (!old.contains("localizations")) {
      EXPECT_EQ(entry.value("localizations", nlohmann::json({{"fr", 0}})).size(), 1u);
      entry.erase("localizations");
    } else if (!old["localizations"].contains("fr")) {
      entry["localizations"].erase("fr");
    } else if (entry["localizations"]["fr"] != old["localizations"]["fr"]) {
      EXPECT_EQ(old["localizations"]["fr"].dump().find("translated"), std::string::npos);
      entry["localizations"]["fr"] = old["localizations"]["fr"];
    }
  }
}

TEST(StringCatalog, ChangesOnlyTheTargetLanguageWhateverTheTranslationIs) {
  size_t segments = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string file = RandomCatalog(seed)();
    const Document document = catalog(file);
    segments += document.segments.size();
    const std::string after = in_random_words(document, seed);
    ASSERT_EQ(texts_of(catalog(after)), Texts{}) << file << "\n" << after;
    nlohmann::json kept = parse_json(after);
    const nlohmann::json before = parse_json(file);
    drop_new(kept, before);
    ASSERT_EQ(kept, before) << after;
    if (document.segments.empty()) {
      ASSERT_EQ(after, file);
    }
  }
  EXPECT_GT(segments, 2000u);
}

}  // namespace
}  // namespace dragoman::internal
