#include <gtest/gtest.h>

#include "document/random_words.h"
#include "document/rotated.h"

namespace dragoman::internal {
namespace {

using Texts = std::vector<std::string>;

std::string resources(const std::string& content) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<resources xmlns:xliff=\"urn:x\">\n" + content +
         "\n</resources>\n";
}

std::string string_of(const std::string& content) {
  return resources("<string name=\"a\">" + content + "</string>");
}

// What becomes of a string.
std::string android_text(const std::string& content, const std::string& translation) {
  const std::string file = string_of(content);
  const Document document = read_as("xml", file);
  const std::string written = document.write(Texts{render(document.segments.at(0), translation, {})});
  const size_t begin = file.find("\"a\">") + 4;
  return written.substr(begin, written.rfind("</string>") - begin);
}

TEST(Android, TranslatesStringsPluralsAndArrays) {
  const std::string file = resources(
      "  <!-- One comment -->\n  <string name=\"a\">It\\'s \\\"here\\\"\\nand &lt;there&gt;</string>\n"
      "  <string name=\"b\" translatable=\"false\">No text</string>\n  <string "
      "name=\"c\">@string/a</string>\n"
      "  <string name=\"d\"> One <b>car</b>\n    is  red </string><color name=\"e\">red</color>\n"
      "  <plurals name=\"f\"><item quantity=\"one\">%d car</item><item quantity=\"other\">%d "
      "cars</item></plurals>\n"
      "  <string-array name=\"g\"><item>First</item><item/></string-array>\n"
      "  <string-array name=\"h\" translatable=\"false\"><item>None</item></string-array>\n"
      "  <string name=\"i\"><![CDATA[<p>Fish & chips</p>]]></string><string name=\"j\">\"kept  \"</string>");
  const Document document = read_as("xml", file);
  EXPECT_EQ(texts_of(document), (Texts{"It's \"here\" and <there>", "One car is red", "%d car", "%d cars",
                                       "First", "Fish & chips", "kept"}));
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(identity_of(read_as("android", file)), file);
  const std::string rotation = rotation_of(document);
  for (const std::string part :
       {">Vg\\'f \\\"urer\\\"\\nnaq &lt;gurer&gt;<", "> Bar <b>pne</b> vf erq </string>",
        "<![CDATA[<p>Svfu & puvcf</p>]]>", ">%d pne<", ">\"xrcg  \"<", "One comment", ">No text<", ">None<",
        "@string/a"}) {
    EXPECT_NE(rotation.find(part), rotation.npos) << part << rotation;
  }
}

TEST(Android, EscapesWhatItMust) {
  EXPECT_EQ(android_text("Yes", "C'est \"oui\" & <non> \\"), "C\\'est \\\"oui\\\" &amp; &lt;non&gt; \\\\");
  EXPECT_EQ(android_text("Fish &amp; chips", "x & y"), "x &amp; y");
  EXPECT_EQ(android_text("At home", "@home"), "\\@home");
  EXPECT_EQ(android_text("<![CDATA[<b>Yes</b>]]>", "x & 'y' ]]>"), "<![CDATA[<b>Yes</b>]]>");
  EXPECT_EQ(android_text("<![CDATA[<b>Yes</b>]]>", "x & 'y'"), "<![CDATA[<b>x & \\'y\\'</b>]]>");
}

TEST(Android, KeepsQuotationMarksInPairs) {
  EXPECT_EQ(android_text("\"Don't stop\"", "Continue"), "\"Continue\"");
  EXPECT_EQ(android_text("\"Say \\\"it\\\"\"", "Dis \"oui\""), "\"Dis \\\"oui\\\"\"");
  EXPECT_EQ(android_text("\"Go  \"", "Va"), "\"Va  \"");
}

TEST(Android, KeepsArgumentsAndWhatIsMarked) {
  EXPECT_EQ(android_text("%s in %d", "%d: %s"), "%2$d: %1$s");
  EXPECT_EQ(android_text("50% of %1$s", "%1$s: 50 %d"), "%1$s: 50 % d");
  const std::string marked = "Hi <xliff:g id=\"name\" example=\"Bob\">%1$s Smith</xliff:g>, bye";
  EXPECT_EQ(texts_of(read_as("xml", string_of(marked))), Texts{"Hi %1$s Smith, bye"});
  EXPECT_EQ(android_text(marked, "%1$s Smith: oui"),
            "<xliff:g id=\"name\" example=\"Bob\">%1$s Smith</xliff:g>: oui");
  EXPECT_EQ(texts_of(read_as("xml", string_of("Say <!-- x --> it"))), Texts{});
}

TEST(Android, KeepsEntitiesThatTheFileDeclares) {
  const auto file = [](const std::string& text) {
    return "<!DOCTYPE resources [<!ENTITY app-name.short \"Dragoman\">]><resources><string name=\"a\">" +
           text + "</string></resources>";
  };
  const Document document = read_as("android", file("About &app-name.short; now"));
  EXPECT_EQ(document.write(Texts{render(document.segments.at(0), "Sur &app-name.short; ici", {})}),
            file("Sur &app-name.short; ici"));
}

TEST(Android, IsOtherXmlWhereItIsNone) {
  EXPECT_EQ(texts_of(read_as("xml", "<resources><text name='a'>It\\'s</text></resources>")), Texts{"It\\'s"});
}

TEST(Android, StaysWellFormedWhateverTheTranslationIs) {
  static const Texts units = {
      "word",   " ",   " ",    "%1$s", "%d",   "&amp;", "&lt;", "<b>x</b>",
      "\\n",    "\\'", "\\\"", "é",    "\\\\", "\n  ",  "%%",   "<xliff:g id=\"a\">%2$s</xliff:g>",
      "\\u00e9"};
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    std::string content;
    for (uint64_t row = 0, rows = 1 + random.below(6); row < rows; ++row) {
      content += "<string name=\"x" + std::to_string(row) + "\">one";
      for (uint64_t n = random.below(8); n > 0; --n) content += units[random.below(units.size())];
      content += "</string>\n";
    }
    const std::string file = resources(content);
    const Document document = read_as("xml", file);
    ASSERT_EQ(identity_of(document), file);
    const std::string translated = in_random_words(document, seed);
    ASSERT_EQ(refusal("xml", translated), "") << translated;
    for (const std::string part : {"%1$s", "<xliff:g", "<b>", "<string"}) {
      size_t before = 0, after = 0;
      for (size_t at = file.find(part); at != file.npos; at = file.find(part, at + 1)) ++before;
      for (size_t at = translated.find(part); at != translated.npos; at = translated.find(part, at + 1))
        ++after;
      ASSERT_EQ(before, after) << part << file << translated;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
