#include <gtest/gtest.h>

#include "base/random.h"
#include "document/identity.h"
#include "document/translation.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

using namespace std::literals;

// Flat OpenDocument has no package around its XML.
std::string refused(std::string_view xml) { return refusal("odf", xml); }

std::string flat(std::string_view paragraph, std::string_view declaration = "") {
  return std::string(declaration) +
         "<office:document xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" "
         "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\"><text:p>" +
         std::string(paragraph) + "</text:p></office:document>";
}

std::vector<XmlToken> tokens_of(std::string_view xml) {
  std::vector<XmlToken> all;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);) all.push_back(token);
  return all;
}

TEST(Xml, TokensAreTheFile) {
  const std::string xml =
      "<?xml version='1.0'?>\n<!DOCTYPE a [<!-- ]> ' --><!ENTITY b \"x]>\"> <?p ]> ' ?>]><a b='>' "
      "c=\"/>\"\n><!-- <d> "
      "--><![CDATA[<e>]]>f &amp; &b; g<h/><i j = 'k' /></a >";
  std::string joined;
  std::vector<int> kinds;
  for (const XmlToken& token : tokens_of(xml)) {
    joined += token.bytes;
    kinds.push_back(static_cast<int>(token.kind));
  }
  EXPECT_EQ(joined, xml);
  using enum XmlToken::Kind;
  const std::vector<XmlToken::Kind> expected = {instruction, text,   doctype, start, comment, cdata,
                                                text,        entity, text,    empty, empty,   end};
  ASSERT_EQ(kinds.size(), expected.size());
  for (size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(kinds[i], static_cast<int>(expected[i])) << i;
}

TEST(Xml, AttributesAreReadAndSet) {
  const std::string_view tag = "<a  b = 'x &amp; \"y\"' c=\"\" />";
  EXPECT_EQ(xml_attribute(tag, "b"), "x & \"y\"");
  EXPECT_EQ(xml_attribute(tag, "d"), "");
  EXPECT_EQ(with_xml_attribute(tag, "c", "<'\">"), "<a  b = 'x &amp; \"y\"' c=\"&lt;&apos;&quot;&gt;\" />");
  EXPECT_EQ(with_xml_attribute(tag, "d", "e"), "<a  b = 'x &amp; \"y\"' c=\"\" d=\"e\" />");
  EXPECT_EQ(with_xml_attribute("<a>", "d", "e"), "<a d=\"e\">");
}

TEST(Xml, CharactersAreDecodedAndEscaped) {
  EXPECT_EQ(decode_xml("&lt;&#65;&#x1F600;&nbsp;&apos; & &unknown;"), "<A\U0001F600\u00A0' & &unknown;");
  EXPECT_EQ(escape_xml("a < b & \"c\"\1"), "a &lt; b &amp; \"c\"\uFFFD");
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (uint64_t n = random.below(20); n > 0; --n) text += "<>&\"' ;#amp\n"[random.below(12)];
    ASSERT_EQ(decode_xml(escape_xml(text)), text);
    ASSERT_EQ(decode_xml(escape_xml_attribute(text)), text);
  }
}

TEST(Xml, BrokenFilesAreRefusedWithTheirLine) {
  EXPECT_EQ(
      refused("<a>\n<b>\n</a>"),
      "test.odf: line 3: invalid XML: Opening and ending tag mismatch: b line 2 and a: repair the file");
  EXPECT_NE(refused(""), "");
  EXPECT_NE(refused("no tags"), "");
  EXPECT_NE(refused("<a>\xFF</a>"), "");
  EXPECT_NE(refused("<a>\0</a>"sv), "");
  EXPECT_NE(refused("<a>&undeclared;</a>"), "");
  const std::string whole = flat("One <text:span>two</text:span> three", "<?xml version=\"1.0\"?>");
  for (size_t size = 0; size < whole.size(); ++size) ASSERT_NE(refused(whole.substr(0, size)), "") << size;
}

TEST(Xml, EntitiesStayWhateverTheyStandFor) {
  const auto with = [](std::string_view entities) { return "<!DOCTYPE d [" + std::string(entities) + "]>"; };
  const std::string lol = "<!ENTITY a \"lol\">\n<!ENTITY p \"&a;&a;\">",
                    parameter = "<!ENTITY % a SYSTEM \"a\"> %a;";
  for (const std::string& declared :
       {with("<!ENTITY p \"Dragoman\">"), with(lol), with("<!ENTITY p \"<b>Dragoman</b>\">"),
        with("<!ENTITY p SYSTEM \"/etc/passwd\">"), with(parameter),
        with("<!ENTITY p \"" + std::string(2000, 'x') + "\">")}) {
    const std::string file = flat("Use &p; today", declared);
    const Document document = read_as("odf", file);
    EXPECT_EQ(document.segments.at(0).text, "Use today");
    EXPECT_EQ(identity_of(document), file);
    EXPECT_EQ(in_upper_case(document), flat("USE &p; TODAY", declared));
  }
  EXPECT_NE(refused(flat("Use &p; today", with("<!ENTITY q \"Dragoman\">"))), "");
  EXPECT_EQ(refused(flat("a", with("<!ENTITY " + std::string(101, 'a') + " \"lol\">"))),
            "test.odf: line 1: the name of the entity " + std::string(101, 'a') +
                " is longer than 100 bytes: repair the file");
}

// Though XHTML has a character of that name.
TEST(Xml, EntitiesThatAFileDeclaresAreItsOwn) {
  const std::string declared = "<!DOCTYPE d [<!ENTITY prod \"Dragoman\"><!ENTITY eacute '&#233;'>]>";
  const Document document = read_as("xml", declared + "<d><p>Use &prod; today</p></d>");
  ASSERT_EQ(document.segments.size(), 1u);
  EXPECT_EQ(document.segments[0].text, "Use today");
  EXPECT_EQ(in_upper_case(document), declared + "<d><p>USE &prod; TODAY</p></d>");
  EXPECT_EQ(read_as("xml", declared + "<d><p>Caf&eacute; &amp; bar</p></d>").segments.at(0).text,
            "Café & bar");
}

TEST(Xml, OtherEncodingsAreReadAndWrittenAsUtf8) {
  const std::string latin = flat("Un caf\xE9 noir", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n");
  const Document document = read_as("odf", latin);
  EXPECT_EQ(document.segments.at(0).text, "Un café noir");
  EXPECT_EQ(identity_of(document), latin);
  EXPECT_EQ(in_upper_case(document), flat("UN CAFé NOIR", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
  const std::string ascii = flat("A cafe", "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n");
  EXPECT_EQ(identity_of(read_as("odf", ascii)), ascii);
  EXPECT_EQ(in_upper_case(read_as("odf", ascii)),
            flat("A CAFE", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
  std::string utf16 = "\xFF\xFE";
  for (const char c : flat("Two words", "<?xml version=\"1.0\" encoding=\"UTF-16\"?>")) (utf16 += c) += '\0';
  EXPECT_EQ(identity_of(read_as("odf", utf16)), utf16);
  EXPECT_EQ(in_upper_case(read_as("odf", utf16)),
            flat("TWO WORDS", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"));
  EXPECT_NE(refused(utf16.substr(0, utf16.size() - 1)), "");
  std::string utf32;
  for (const char c : flat("Two words")) utf32 += std::string(3, '\0') + c;
  EXPECT_EQ(in_upper_case(read_as("odf", utf32)), flat("TWO WORDS"));
  EXPECT_NE(refused(flat("a", "<?xml version=\"1.0\" encoding=\"no-such-one\"?>")), "");
  EXPECT_NE(refused(flat("caf\x81", "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>")), "");
}

TEST(Xml, DeepNestingIsRefusedAndLongFilesAreRead) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "<a>";
  EXPECT_NE(refused(deep), "");
  std::string spans, ends;
  for (int i = 0; i < 200; ++i) {
    spans += "<text:span>a";
    ends += "</text:span>";
  }
  const std::string nested = flat(spans + ends);
  EXPECT_EQ(identity_of(read_as("odf", nested)), nested);
  std::string tags = "a ";
  for (int i = 0; i < 100'000; ++i) tags += "<text:bookmark/>b <text:span>c</text:span>";
  const std::string file = flat(tags);
  EXPECT_EQ(identity_of(read_as("odf", file)), file);
  const std::string attribute = "<a b=\"" + std::string(1'000'000, '\'') + "\"/>";
  EXPECT_EQ(refused(attribute), "");
  std::string attributes = "\n<a";
  for (int i = 0; i < 200'000; ++i) attributes += " a" + std::to_string(i) + "=''";
  EXPECT_EQ(refused(attributes + "/>"),
            "test.odf: line 2: this tag has more than 1000 attributes: repair the file");
  std::string blocks;
  for (int i = 0; i < 100'000; ++i) blocks += "</text:p><text:p>a <text:span>b</text:span>";
  EXPECT_EQ(identity_of(read_as("odf", flat(blocks))), flat(blocks));
  EXPECT_NE(refused("<a>" + std::string(5'000'000, '&') + "</a>"), "");
}

}  // namespace
}  // namespace dragoman::internal
