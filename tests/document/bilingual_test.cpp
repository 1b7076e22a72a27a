#include <set>

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/identity.h"
#include "document/readers.h"
#include "document/translation.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

Document read_to(std::string_view format, std::string_view bytes, const std::string& to = "fr") {
  return document_format(format, "")
      .read(bytes, {.name = "test." + std::string(format), .from = "", .to = to});
}

std::string translated(std::string_view format, std::string_view bytes) {
  return in_upper_case(read_to(format, bytes));
}

std::string xliff(const std::string& units) {
  return "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"fr\"><body>" + units +
         "</body></file></xliff>";
}

std::string unit(const std::string& contents) {
  return xliff("<trans-unit id=\"1\">" + contents + "</trans-unit>");
}

constexpr const char* waiting_target = "<target state=\"needs-review-translation\">";

TEST(Xliff, MissingTargetsAreAddedAndTranslationsStay) {
  EXPECT_EQ(translated("xliff", unit("\n  <source>Open</source>\n  <note>n</note>")),
            unit("\n  <source>Open</source>\n  " + std::string(waiting_target) +
                 "OPEN</target>\n  <note>n</note>"));
  EXPECT_EQ(translated("xliff", unit("<source>Open</source><target/>")),
            unit("<source>Open</source>" + std::string(waiting_target) + "OPEN</target>"));
  EXPECT_EQ(
      translated("xliff", unit("<source>Open</source><target state=\"new\" xml:lang=\"fr\">Open</target>")),
      unit("<source>Open</source><target state=\"needs-review-translation\" xml:lang=\"fr\">OPEN</target>"));
  for (const std::string& stays :
       {unit("<source>Open</source><target>Ouvrir</target>"),
        unit("<source>Open</source><target state=\"new\">Ouvrir</target>"),
        xliff("<trans-unit id=\"1\" translate=\"no\"><source>Open</source></trans-unit>"),
        xliff("<trans-unit id=\"1\" approved=\"yes\"><source>Open</source><target></target></trans-unit>"),
        xliff("<group translate=\"no\"><trans-unit id=\"1\"><source>Open</source></trans-unit></group>"),
        unit("<source/>"), unit("<note>No source</note>")})
    EXPECT_EQ(translated("xliff", stays), stays);
}

TEST(Xliff, OtherTranslationsOfAUnitAreLeftAlone) {
  const std::string other = "<alt-trans><source>Open it</source><target>Ouvrez</target></alt-trans>";
  EXPECT_EQ(translated("xliff", unit("<source>Open</source>" + other)),
            unit("<source>Open</source>" + std::string(waiting_target) + "OPEN</target>" + other));
}

TEST(Xliff, SegmentsOfAUnitAreTranslatedOneByOne) {
  const auto segments = [](const std::string& a, const std::string& b) {
    return "<mrk mtype=\"seg\" mid=\"0\">" + a + "</mrk> <mrk mtype=\"seg\" mid=\"1\">" + b + "</mrk>";
  };
  const std::string source =
      "<source>One. Two.</source><seg-source>" + segments("One.", "Two.") + "</seg-source>";
  EXPECT_EQ(translated("xliff", unit(source)),
            unit(source + waiting_target + segments("ONE.", "TWO.") + "</target>"));
  EXPECT_EQ(read_to("xliff", unit(source)).segments.size(), 2u);
  EXPECT_EQ(translated("xliff", unit(source + "<target><mrk mtype=\"seg\" mid=\"0\"/></target>")),
            unit(source + waiting_target + segments("ONE.", "TWO.") + "</target>"));
}

TEST(Xliff, LanguagesAreFilledIn) {
  const std::string first =
      "<xliff version=\"1.2\"><file source-language=\"en\"/><file source-language=\"en\"></file></xliff>";
  EXPECT_EQ(identity_of(read_to("xliff", first)),
            "<xliff version=\"1.2\"><file source-language=\"en\"/><file source-language=\"en\" "
            "target-language=\"fr\"></file></xliff>");
  EXPECT_EQ(identity_of(read_to("xliff", "<xliff version=\"2.0\" srcLang=\"en\"></xliff>")),
            "<xliff version=\"2.0\" srcLang=\"en\" trgLang=\"fr\"></xliff>");
}

TEST(Xliff, Version2HasStatesAtSegments) {
  const auto file = [](const std::string& unit) {
    return "<xliff version=\"2.1\" srcLang=\"en\" trgLang=\"fr\"><file id=\"f\"><unit id=\"1\">" + unit +
           "</unit></file></xliff>";
  };
  EXPECT_EQ(
      translated("xliff", file("<segment id=\"a\"><source>Open <pc id=\"1\">it</pc></source></segment>"
                               "<ignorable><source> x </source></ignorable>")),
      file(
          "<segment id=\"a\" state=\"translated\"><source>Open <pc id=\"1\">it</pc></source><target>OPEN <pc "
          "id=\"1\">IT</pc></target></segment><ignorable><source> x </source></ignorable>"));
  const std::string final = file("<segment state=\"final\"><source>Open</source><target></target></segment>");
  EXPECT_EQ(translated("xliff", final), final);
  // Without a state it is initial.
  EXPECT_EQ(translated("xliff", file("<segment><source>Open</source><target>Open</target></segment>")),
            file("<segment state=\"translated\"><source>Open</source><target>OPEN</target></segment>"));
  const std::string done = file("<segment><source>Open</source><target>Ouvrir</target></segment>");
  EXPECT_EQ(translated("xliff", done), done);
}

TEST(Xliff, CodesArePlacedWithTheirPartners) {
  EXPECT_EQ(
      translated("xliff",
                 unit("<source>Press <bpt id=\"1\">&lt;b></bpt>Enter<ept id=\"1\">&lt;/b></ept> <x "
                      "id=\"2\"/> or <mrk mtype=\"protected\">Esc</mrk>, now</source><target></target>")),
      unit("<source>Press <bpt id=\"1\">&lt;b></bpt>Enter<ept id=\"1\">&lt;/b></ept> <x id=\"2\"/> or <mrk "
           "mtype=\"protected\">Esc</mrk>, now</source>" +
           std::string(waiting_target) +
           "PRESS <bpt id=\"1\">&lt;b></bpt>ENTER<ept id=\"1\">&lt;/b></ept> <x id=\"2\"/> OR <mrk "
           "mtype=\"protected\">Esc</mrk>, NOW</target>"));
}

TEST(Xliff, OfCrossingPairsTheFirstToCloseIsOne) {
  const Document document = read_to(
      "xliff", unit("<source>a <bx id=\"1\"/>b <bx id=\"2\"/>c<ex id=\"1\"/> d<ex id=\"2\"/> e</source>"));
  std::vector<std::string> spans;
  for (const DocumentMark& mark : document.segments.at(0).marks)
    if (mark.kind == DocumentMark::Kind::span) spans.push_back(mark.open + mark.close);
  EXPECT_EQ(spans, std::vector<std::string>{"<bx id=\"1\"/><ex id=\"1\"/>"});
  EXPECT_EQ(document.segments[0].marks.size(), 3u);
}

std::string random_codes(Random& random, int depth) {
  static const std::vector<std::string> codes = {"<x id=\"1\"/>",
                                                 "<bpt id=\"2\">{</bpt>",
                                                 "<ept id=\"2\">}</ept>",
                                                 "<bx id=\"3\"/>",
                                                 "<ex id=\"3\"/>",
                                                 "<ph id=\"4\">a <sub>b</sub></ph>",
                                                 "<!-- c -->",
                                                 "one ",
                                                 " two",
                                                 "three",
                                                 "&amp;",
                                                 "<![CDATA[<four>]]>",
                                                 ". "};
  std::string content;
  for (uint64_t n = random.below(8); n > 0; --n) {
    const uint64_t which = random.below(codes.size() + 2);
    if (which < codes.size())
      content += codes[which];
    else if (depth > 0)
      content += (which == codes.size() ? "<g id=\"5\">" : "<mrk mtype=\"x\">") +
                 random_codes(random, depth - 1) + (which == codes.size() ? "</g>" : "</mrk>");
  }
  return content;
}

// The tags and comments of the content, in some order.
std::multiset<std::string> codes_of(std::string_view xml) {
  std::multiset<std::string> codes;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);)
    if (token.is_tag() || token.kind == XmlToken::Kind::comment) codes.insert(std::string(token.bytes));
  return codes;
}

TEST(Xliff, NoCodeIsLostWhateverCrosses) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string content = random_codes(random, 2);
    const std::string file = unit("<source>" + content + "</source>");
    const Document document = read_to("xliff", file);
    const std::string identity =
        content.empty() ? file
                        : unit("<source>" + content + "</source>" + waiting_target + content + "</target>");
    ASSERT_EQ(identity_of(document), identity);
    for (const std::string& out : {in_upper_case(document), in_other_words(document)}) {
      const size_t begin = out.find(waiting_target);
      if (begin == std::string::npos) break;
      const size_t size = std::string_view(waiting_target).size();
      ASSERT_EQ(out.substr(0, begin), identity.substr(0, begin));
      ASSERT_EQ(codes_of(out.substr(begin + size, out.find("</target>") - begin - size)), codes_of(content))
          << out;
      ASSERT_TRUE(read_to("xliff", out).segments.empty()) << out;
    }
  }
}

TEST(Tmx, UnitsGetTheLanguageThatTheyLack) {
  const auto file = [](const std::string& unit) {
    return "<tmx version=\"1.4\"><header srclang=\"en\"/><body>" + unit + "</body></tmx>";
  };
  EXPECT_EQ(
      translated("tmx",
                 file("<tu>\n  <tuv xml:lang=\"en-US\"><seg>Good <bpt i=\"1\">b</bpt>day<ept "
                      "i=\"1\">/b</ept></seg></tuv>\n  <tuv xml:lang=\"de\"><seg>Tag</seg></tuv></tu>")),
      file("<tu>\n  <tuv xml:lang=\"en-US\"><seg>Good <bpt i=\"1\">b</bpt>day<ept "
           "i=\"1\">/b</ept></seg></tuv>\n  "
           "<tuv xml:lang=\"fr\"><seg>GOOD <bpt i=\"1\">b</bpt>DAY<ept i=\"1\">/b</ept></seg></tuv>\n  <tuv "
           "xml:lang=\"de\"><seg>Tag</seg></tuv></tu>"));
  for (const std::string& stays : {file("<tu><tuv xml:lang=\"en\"><seg>Day</seg></tuv><tuv "
                                        "xml:lang=\"FR-ca\"><seg>Jour</seg></tuv></tu>"),
                                   file("<tu><tuv xml:lang=\"de\"><seg>Tag</seg></tuv></tu>"), file("<tu/>"),
                                   file("<tu><tuv xml:lang=\"en\"/></tu>")})
    EXPECT_EQ(translated("tmx", stays), stays);
  EXPECT_NE(refusal("tmx", file("")).find("give the language"), std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
