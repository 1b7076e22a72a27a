// OpenDocument, EPUB and other XML whose text is directly in tags.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/random.h"
#include "document/identity.h"
#include "document/packed.h"
#include "document/translation.h"
#include "document/xml/tokens.h"

namespace dragoman::internal {
namespace {

struct Language {
  std::vector<std::string> spans, points, borders,
      blocks;  // names; points and borders as they are in the file
  std::string head, tail;
};

const Language opendocument = {{"text:span", "text:a"},
                               {"<text:bookmark/>", "<draw:frame/>", "<!-- c -->", "<text:s/>",
                                "<office:annotation><dc:creator>Someone</dc:creator></office:annotation>"},
                               {"<text:tab/>", "<text:line-break/>"},
                               {"text:p", "text:h"},
                               "<office:document xmlns:office=\"o\" xmlns:draw=\"d\" xmlns:dc=\"c\" "
                               "xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\">",
                               "</office:document>"};

const Language xhtml = {
    {"b", "em", "a", "span"},
    {"<img src=\"a.png\"/>", "<a id=\"x\"/>", "<code>code(x)</code>", "<!-- c -->", "&undeclared;"},
    {"<br/>", "<hr/>"},
    {"p", "div", "li", "td"},
    "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.1//EN\" \"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd\">"
    "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body>",
    "</body></html>"};

const Language any_xml = {{"b", "x:y"},
                          {"<x/>", "<!-- c -->", "<?a b?>"},
                          {"<k translate=\"no\">code <b>x</b></k>", "<k translatable=\"false\"/>"},
                          {"p", "string"},
                          "<?xml version=\"1.0\"?><doc xmlns:x=\"x\">",
                          "</doc>\n"};
const Language piece_of_xml = {any_xml.spans, any_xml.points, any_xml.borders, any_xml.blocks, "", ""};

class RandomXml {
 public:
  RandomXml(const Language& language, uint64_t seed) : language_(language), random_(seed) {
    xml_ = language.head;
    for (uint64_t n = random_.below(4); n > 0; --n) block(1);
    xml_ += language.tail;
  }

  const std::string& xml() const { return xml_; }
  int words() const { return words_; }

 private:
  const std::string& any(const std::vector<std::string>& names) { return names[random_.below(names.size())]; }

  void block(int depth) {
    const std::string name = any(language_.blocks);
    xml_ += "<" + name + ">";
    contents(depth, 2);
    xml_ += "</" + name + ">\n";
  }

  void contents(int blocks, int depth) {
    for (uint64_t n = random_.below(6); n > 0; --n) {
      const uint64_t which = random_.below(12);
      if (which == 0) {
        xml_ += any(language_.points);
      } else if (which == 1) {
        xml_ += any(language_.borders);
      } else if (which == 2 && blocks > 0) {
        block(blocks - 1);
      } else if (which < 5 && depth > 0) {
        const std::string name = any(language_.spans);
        xml_ += "<" + name + " id=\"1\">";
        contents(blocks, depth - 1);
        xml_ += "</" + name + ">";
      } else {
        static const std::vector<std::string> tails = {" ",    " &amp; ", ", ",        "\n  ",
                                                       " 12 ", "",        " \xC3\xA9 "};
        if (random_.below(4) == 0) xml_ += "\n";
        xml_ += "w" + std::to_string(++words_) + "q" + any(tails);
      }
    }
  }

  const Language& language_;
  Random random_;
  std::string xml_;
  int words_ = 0;
};

std::map<std::string, int> inline_tags_of(const std::string& xml) {
  std::map<std::string, int> tags;
  XmlTokens tokens(xml);
  for (XmlToken token; tokens.next(token);)
    if (token.kind != XmlToken::Kind::text && token.name != "text:s") ++tags[std::string(token.bytes)];
  return tags;
}

std::string book_of(const std::string& page) {
  return packed(
      {{"mimetype", "application/epub+zip"},
       {"META-INF/container.xml", "<container><rootfile full-path=\"a/b.opf\"/></container>"},
       {"a/b.opf", "<package><item href=\"../c%20d.xhtml\" media-type=\"application/xhtml+xml\"/></package>"},
       {"c d.xhtml", page}});
}

void check(const Language& language, const std::function<std::string(const std::string&)>& pack,
           const char* format, const std::function<std::string(const std::string&)>& unpack) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    const RandomXml random(language, seed);
    const std::string file = pack(random.xml());
    const Document document = read_as(format, file);
    ASSERT_EQ(identity_of(document), file) << seed;
    std::string all;
    for (const DocumentSegment& segment : document.segments) all += " " + segment.text;
    for (int word = 1; word <= random.words(); ++word) {
      const std::string name = "w" + std::to_string(word) + "q";
      ASSERT_TRUE(all.find(name) != std::string::npos && all.find(name) == all.rfind(name))
          << name << random.xml();
    }
    for (const std::string& changed : {in_upper_case(document), in_other_words(document)}) {
      ASSERT_EQ(inline_tags_of(unpack(changed)), inline_tags_of(random.xml())) << random.xml() << "\n"
                                                                               << unpack(changed);
      // In other XML the places of words determine what a paragraph is.
      if (&language == &any_xml || &language == &piece_of_xml) continue;
      ASSERT_EQ(read_as(format, changed).segments.size(), document.segments.size()) << seed;
    }
  }
}

TEST(Odf, ComesBackWholeWhateverStandsInItsParagraphs) {
  const auto same = [](const std::string& xml) { return xml; };
  check(opendocument, same, "odf", same);
}

TEST(Epub, ComesBackWholeWhateverStandsInItsPages) {
  check(xhtml, book_of, "epub", [](const std::string& book) { return unpacked(book).at(3).second; });
}

TEST(PlainXml, ComesBackWholeWhateverStandsInIt) {
  const auto same = [](const std::string& xml) { return xml; };
  check(any_xml, same, "xml", same);
  check(piece_of_xml, same, "xml", same);
}

TEST(PlainXml, AnElementWithTextOfItsOwnIsAParagraph) {
  const Document document =
      read_as("xml",
              "<doc>\n <title>A <i>b</i></title><list><item>C</item>, <item>d</item></list>"
              "<p translate=\"no\">E</p><p><b>F</b> <b>g</b></p></doc>");
  std::vector<std::string> texts;
  for (const DocumentSegment& segment : document.segments) texts.push_back(segment.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"A b", "C, d", "F", "g"}));
}

TEST(PlainXml, WhatIsFixedIsReadWithItsSentence) {
  const std::string xml = "The <x translate=\"no\">red\n &amp; cat</x> sleeps <y/>here &amp; there.";
  const Document document = read_as("xml", xml);
  ASSERT_EQ(document.segments.size(), 1u);
  EXPECT_EQ(document.segments[0].text, "The red & cat sleeps here & there.");
  const std::string out = document.write(
      std::vector<std::string>{render(document.segments[0], "Ici & maintenant dort le red & cat.", {})});
  EXPECT_NE(out.find("le <x translate=\"no\">red\n &amp; cat</x>"), out.npos) << out;
  EXPECT_NE(out.find("<y/>"), out.npos) << out;
  EXPECT_NE(out.find("Ici &amp; maintenant"), out.npos) << out;
  const std::string at_edge = "<x translate=\"no\">Dragoman</x> is fast";
  EXPECT_EQ(read_as("xml", at_edge).segments.at(0).text, "Dragoman is fast");
  EXPECT_TRUE(read_as("xml", "<x translate=\"no\">Dragoman</x> 4.5").segments.empty());
}

TEST(PlainXml, ADocumentTypeMayFollowCommentsAndWhiteSpace) {
  for (const std::string before : {"<!-- One comment -->", "\n", "<!-- x -->\n<?y z?>\n"}) {
    const std::string file = before + "<!DOCTYPE a [<!ENTITY b \"c\">]><a>One</a>\n";
    const Document document = read_as("xml", file);
    ASSERT_EQ(document.segments.size(), 1u);
    EXPECT_EQ(identity_of(document), file);
  }
}

TEST(PlainXml, FilesComeInAnyEncoding) {
  for (const std::string file : {"\xEF\xBB\xBF<a>One</a>", "\xEF\xBB\xBF<?xml version='1.0'?>\n<a>One</a>\n",
                                 "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9t\xE9</a>"}) {
    const Document document = read_as("xml", file);
    EXPECT_EQ(document.segments.size(), 1u) << file;
    EXPECT_EQ(identity_of(document), file);
  }
}

TEST(PlainXml, WhatIsNoXmlIsRefused) {
  for (const char* broken : {"a <b>c", "a </piece><piece>", "a & b", "<a>b</a", "\xFF"})
    EXPECT_NE(refusal("xml", broken), "") << broken;
  EXPECT_EQ(refusal("xml", ""), "");
}

TEST(Odf, NotesAreSegmentsOfTheirOwn) {
  const auto file = [](const std::string& text, const std::string& note) {
    return opendocument.head + "<text:p>" + text +
           "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>" + note +
           "</text:p></text:note-body></text:note>.</text:p>" + opendocument.tail;
  };
  const Document document = read_as("odf", file("As it says", "A note"));
  ASSERT_EQ(document.segments.size(), 2u);
  EXPECT_EQ(document.segments[1].text, "As it says.");
  EXPECT_EQ(in_upper_case(document), file("AS IT SAYS", "A NOTE"));
}

TEST(Odf, DeletedTextAndComputedCellsStay) {
  std::string file = opendocument.head +
                     "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><t:table-cell "
                     "office:value-type=\"date\"><text:p>May</text:p></t:table-cell><text:p>word</text:p>" +
                     opendocument.tail;
  file.insert(file.find(" xmlns:draw"), " xmlns:t=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\"");
  EXPECT_EQ(read_as("odf", file).segments.size(), 1u);
}

TEST(Epub, PagesAreFoundByAnyPath) {
  const std::string page = "<html xmlns=\"http://www.w3.org/1999/xhtml\"><body><p>One</p></body></html>";
  const std::string book =
      packed({{"mimetype", "application/epub+zip"},
              {"META-INF/container.xml", "<container><rootfile full-path=\"a/b.opf\"/></container>"},
              {"a/b.opf",
               "<package><item href=\"./c.xhtml\" media-type=\"application/xhtml+xml\"/>"
               "<item href=\"x/../../d.xhtml\" media-type=\"application/xhtml+xml\"/></package>"},
              {"a/c.xhtml", page},
              {"d.xhtml", page}});
  EXPECT_EQ(read_as("epub", book).segments.size(), 2u);
}

TEST(Epub, AttributesWithEntitiesOfTheFileStay) {
  const std::string page =
      "<!DOCTYPE html [<!ENTITY name \"Dragoman\">]><html xmlns=\"http://www.w3.org/1999/xhtml\"><body>"
      "<p>See <img alt=\"About &name;\"/>here</p></body></html>";
  const Document document = read_as("epub", book_of(page));
  ASSERT_EQ(document.segments.size(), 1u);
  EXPECT_NE(unpacked(in_upper_case(document)).at(3).second.find("alt=\"About &name;\""), std::string::npos);
}

TEST(Epub, LanguageAndAttributesFollowTheTranslation) {
  const auto book = [](const std::string& text, const std::string& alt, const std::string& language) {
    return Entries{
        {"mimetype", "application/epub+zip"},
        {"META-INF/container.xml", "<container><rootfile full-path=\"b.opf\"/></container>"},
        {"b.opf",
         "<package xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:language>" + language +
             "</dc:language><item href=\"c.xhtml\" media-type=\"application/xhtml+xml\"/></package>"},
        {"c.xhtml", "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"" + language +
                        "\"><head><title/><script src=\"a.js\"/></head><body><p>" + text + "<img alt=\"" +
                        alt + "\"/> 1.</p></body></html>"}};
  };
  const std::string file = packed(book("See", "a plate &amp; fish", "en"));
  const Document document =
      document_format("epub", "").read(file, {.name = "test.epub", .from = "en", .to = "fr"});
  EXPECT_EQ(identity_of(document), file);
  EXPECT_EQ(unpacked(in_upper_case(document)), book("SEE", "A PLATE &amp; FISH", "fr"));
}

}  // namespace
}  // namespace dragoman::internal
